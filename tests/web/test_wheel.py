import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from muniment.web.static_site import load_site

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_package_carries_the_page(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", str(tmp_path), str(ROOT)], check=True)
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as package:
        package.extractall(tmp_path / "installed")
    carried = load_site(tmp_path / "installed/muniment/web/static")
    assert carried.find("/kb") is not None
    assert carried == load_site()
