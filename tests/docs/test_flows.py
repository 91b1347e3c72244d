"""Every file and function that docs/flows.md names exists."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "muniment"
NAMED = re.compile(r"`([\w/]+\.py)`(?: \| `| `)([A-Za-z_][\w.]*)`")
FILE = re.compile(r"`((?:[\w]+/)+[\w]+\.py)`")


def _names(path: Path) -> Iterator[str]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            yield node.name
            for member in node.body:
                if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield f"{node.name}.{member.name}"
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name


def test_every_file_and_function_of_the_flows_exists() -> None:
    text = (ROOT / "docs" / "flows.md").read_text(encoding="utf-8")
    files = [name for name in FILE.findall(text) if not name.startswith("tests/")]
    hops = NAMED.findall(text)
    assert len(hops) > 30
    assert [name for name in files if not (SOURCE / name).exists()] == []
    assert [(name, what) for name, what in hops if what not in set(_names(SOURCE / name))] == []
