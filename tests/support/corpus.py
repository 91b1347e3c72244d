"""Real PDF files beside the repository, used in addition where they are; nothing depends on them."""

from pathlib import Path

FILES = sorted((Path(__file__).parents[3] / "shared" / "corpus").glob("*.pdf"))
