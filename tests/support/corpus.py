"""Optional real PDF files next to the repository. No test depends on them."""

from pathlib import Path

FILES = sorted((Path(__file__).parents[3] / "shared" / "corpus").glob("*.pdf"))
