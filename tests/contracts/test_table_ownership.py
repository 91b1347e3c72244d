"""SQL strings of a feature name only its own tables.

Another feature's data is reached through the owner's repository, a view or an SQL function, or by a SQLAlchemy
`select()` on imported tables, which the import rules allow only downwards. What remains is listed here with its reason;
an exception that is no longer needed fails as well.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
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


@dataclass(frozen=True)
class ForeignTables:
    tables: frozenset[str]
    reason: str


def allow(tables: str, reason: str) -> ForeignTables:
    return ForeignTables(frozenset(tables.split()), reason)


EXCEPTIONS = {
    "documents/handovers.py": allow(
        "archive_audit_log", "handover is above documents; a port that lists open hand-overs will replace it"
    ),
    "handover/repository.py": allow(
        "documents organizations receipts", "one statement locks or updates the record together with its document"
    ),
    "knowledge_bases/repository.py": allow("documents", "documents is above knowledge_bases; needs a view of counts"),
    "lifecycle/explain.py": allow("document_processing_runs", "to be read through documents.runs"),
    "lifecycle/moves/restore.py": allow(
        "document_processing_runs documents indexing_variants",
        "search is above lifecycle; needs an SQL function of search",
    ),
    "lifecycle/proof/inventory.py": allow(
        "artifact_chunks artifacts_full_text deletions document_diagrams document_pages document_paragraphs"
        " document_processing_runs document_revisions documents",
        "a purge counts every row of a document in one snapshot; needs an SQL function with the list of tables",
    ),
    "lifecycle/reprocess.py": allow(
        "document_processing_runs knowledge_bases", "to be read through their repositories"
    ),
    "processing/results/hydration.py": allow(
        "artifact_pages artifact_paragraphs artifacts_full_text document_revisions documents",
        "one INSERT … SELECT per kind of part, whatever the number of pages",
    ),
    "processing/runs/repository.py": allow(
        "document_processing_runs documents", "the fence locks document and run in one statement"
    ),
    "reconcile/runs.py": allow(
        "document_processing_runs documents", "joins the task engine's condition for live jobs; needs the engine's port"
    ),
    "search/external_index/state.py": allow(
        "document_processing_runs document_revisions documents index_intents",
        "rows and intents must be read in one snapshot",
    ),
    "search/query/repository.py": allow("documents knowledge_bases", "tuned statements of the query path"),
    "search/query/within_document.py": allow("documents", "tuned statement of the query path"),
    "storage/db/schema_version.py": allow(
        "users", "the supervisor checks for a first account without loading accounts"
    ),
    "storage/db/work.py": allow("organizations", "every sweep visits all organizations; accounts is above storage"),
    "storage/deletions/ledger.py": allow(
        "documents", "documents is above storage; app_document_is_gone must be granted to the service first"
    ),
    "storage/tasks/procrastinate/queue.py": allow(
        "document_processing_runs", "joins jobs and runs until the engines share an outbox"
    ),
    "storage/vectors/pgvector/indexes.py": allow(
        "indexing_variants", "partial indexes per model; search is above storage"
    ),
}
"""Foreign tables by module, with the reason why they are still named there."""


def test_sql_strings_name_only_tables_of_their_own_feature() -> None:
    unexpected = sorted(find_foreign_tables() - allowed())
    assert not unexpected, "use the owner's repository, a view or an SQL function, or list the exception and its reason"


def test_every_exception_is_still_needed() -> None:
    assert not sorted(allowed() - find_foreign_tables())


def test_foreign_tables_are_recognized() -> None:
    found = {match[1] or match[2] for match in _REFERENCE.finditer("SELECT a, b FROM users u, documents d JOIN runs r")}
    assert {"users", "documents", "runs"} <= found


def allowed() -> set[tuple[str, str]]:
    return {(path, table) for path, exception in EXCEPTIONS.items() for table in exception.tables}


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
