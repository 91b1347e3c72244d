"""SQL strings of a feature name only its own tables.

Data of a feature below is reached through its repository or through its imported table class, also inside a string
(`{Document.__table__}`): so the import rules see it, and allow it only downwards. Data of a feature above is reached
through a view or an SQL function of its migration.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "muniment"
ENGINE_TABLES = {
    "procrastinate_jobs": "storage/tasks",
    "procrastinate_events": "storage/tasks",
    "procrastinate_workers": "storage/tasks",
    "procrastinate_periodic_defers": "storage/tasks",
}

_TABLE_NAME = re.compile(r'__tablename__ = "(\w+)"')
_STATEMENT = re.compile(r"\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|JOIN|FROM)\b")
_REFERENCE = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE|USING)\s+(?:ONLY\s+)?(\w+)|,\s*(\w+)(?=\s+\w+)")


def test_sql_strings_name_only_tables_of_their_own_feature() -> None:
    assert not sorted(find_foreign_tables()), "use the owner's repository, its table class, a view or an SQL function"


def test_foreign_tables_are_recognized() -> None:
    found = {match[1] or match[2] for match in _REFERENCE.finditer("SELECT a, b FROM users u, documents d JOIN runs r")}
    assert {"users", "documents", "runs"} <= found


def find_foreign_tables() -> set[tuple[str, str]]:
    owners = table_owners()
    return {
        (path, table)
        for path, statement in sql_strings()
        for match in _REFERENCE.finditer(statement)
        if (table := match[1] or match[2]) in owners and owners[table] != feature_of(Path(path))
    }


def table_owners() -> dict[str, str]:
    """Return every table with the feature whose module declares it."""
    declared = {
        name: feature_of(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        for name in _TABLE_NAME.findall(path.read_text())
    }
    return declared | ENGINE_TABLES


def feature_of(path: Path) -> str:
    """Return the folder of a feature; each folder of `storage` is one of its own."""
    return "/".join(path.parts[:2]) if path.parts[0] == "storage" else path.parts[0]


def sql_strings() -> Iterator[tuple[str, str]]:
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE)
        if name.parts[0] == "migrations":
            continue
        tree = ast.parse(path.read_text())
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        texts = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in docstrings)
        for node in texts:
            if isinstance(node.value, str) and _STATEMENT.search(node.value):
                yield name.as_posix(), node.value
