"""The README's tour, executed as written."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.running_server import EMAIL, PASSWORD, RunningServer

pytestmark = pytest.mark.slow

README = Path(__file__).parents[2] / "README.md"
BLOCK = re.compile(r"^```\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def tour() -> list[str]:
    section = README.read_text(encoding="utf-8").split("## Five minutes with curl")[1].split("\n## ")[0]
    return BLOCK.findall(section)


def test_the_tour_does_what_it_says(folder: Path, prepared_data_dir: Path) -> None:
    assert shutil.which("curl"), "This test types the README's commands: install curl (apt-get install curl)"
    start, *steps = tour()
    assert f"MUNIMENT_ADMIN_EMAIL={EMAIL} MUNIMENT_ADMIN_PASSWORD='{PASSWORD}' make serve" in start
    with RunningServer(folder, prepared_data_dir) as muniment:
        muniment.start()
        script = "\n".join(steps).replace("http://127.0.0.1:8400", muniment.url)
        # Use this clone's command, and the data of this installation.
        script = script.replace(
            ".venv/bin/muniment",
            f"MUNIMENT_DATA_DIR={muniment.data_dir} MUNIMENT_PORT={muniment.port} {muniment.command}",
        )
        typed = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert typed.returncode == 0, typed.stderr
    assert typed.stderr == ""
    for said in (
        '"status":"pending"',
        '"error":"duplicate_document"',
        "The tenant pays on the first of each month.",
        "tenant",
        '"page_number":1',
        '"kind":"text"',
        '"problems":[]',
        '"status":"ok"',
        "ok     database",
    ):
        assert said in typed.stdout
