"""The generated API client matches the current OpenAPI document."""

import json
import subprocess
from pathlib import Path

from muniment.api import build_documented_app

ROOT = Path(__file__).parents[2]


def test_the_committed_description_is_current() -> None:
    committed = json.loads((ROOT / "web/openapi.json").read_text(encoding="utf-8"))
    assert committed == build_documented_app().openapi(), "run tools/openapi and commit what it writes"


def test_the_generated_types_are_current(tmp_path: Path) -> None:
    target = tmp_path / "schema.ts"
    command = ["tools/web", "npx", "openapi-typescript", "openapi.json", "--output", str(target)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    committed = (ROOT / "web/lib/api/schema.ts").read_text(encoding="utf-8")
    assert committed == target.read_text(encoding="utf-8"), "run tools/openapi and commit what it writes"
