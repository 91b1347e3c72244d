"""One name, one concept: a public class name appears once in `src/`."""

import ast
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "muniment"


def test_a_public_class_name_appears_once() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        if "migrations" in path.parts:
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(SOURCE)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_the_package_root_has_only_entry_points_and_errors() -> None:
    expected = {"__init__.py", "__main__.py", "api.py", "archiver.py", "errors.py", "serve.py", "worker.py"}
    assert {path.name for path in SOURCE.glob("*.py")} == expected
