"""Every purge path goes through `may_purge` (docs/design.md#i9): search the source for anything that does not."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import muniment
from muniment.documents import purge
from muniment.errors import Conflict
from tests.lifecycle.purge.harness import PurgeHarness

SOURCE = Path(muniment.__file__).parent
PURGE = "documents/purge.py"
DELETES_DOCUMENTS = re.compile(r"\bdelete\s+from\s+(only\s+)?(public\.)?\"?documents\b", re.IGNORECASE)
MAY_REMOVE = {
    # Modules that call their own `delete`, or one of something other than a document.
    "documents/repository.py": "defines it",
    PURGE: "the one that calls it, behind `may_purge`",
}


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield str(path.relative_to(SOURCE)), ast.parse(path.read_text())


def is_documents(node: ast.AST) -> bool:
    """Return whether the node is `Document`, `Document.__table__`, or the table under its name in the source."""
    if isinstance(node, ast.Attribute):
        return is_documents(node.value)
    return isinstance(node, ast.Name) and node.id in {"Document", "DOCUMENTS"}


def destroys(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return DELETES_DOCUMENTS.search(node.value) is not None
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name == "delete":  # `delete(Document)`, `session.delete(document)`, `DOCUMENTS.delete()`
        receiver = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        of_session = any(isinstance(one, ast.Attribute) and one.attr == "session" for one in receiver)
        of_table = any(is_documents(one) for one in (*node.args[:1], *receiver))
        return of_session or of_table or _is_repository(node.func)
    return False


def _is_repository(function: ast.expr) -> bool:
    """Return whether it is `DocumentRepository(…).delete`, directly or through a variable."""
    receiver = function.value if isinstance(function, ast.Attribute) else function
    if isinstance(receiver, ast.Call):
        return getattr(receiver.func, "id", "") == "DocumentRepository"
    return isinstance(receiver, ast.Name) and receiver.id == "documents"


def test_nothing_but_the_gate_deletes_a_document() -> None:
    found = {name for name, tree in modules() if any(destroys(node) for node in ast.walk(tree))}
    assert found == set(MAY_REMOVE)


@pytest.mark.parametrize(
    "written",
    [
        "delete(Document).where(x)",
        "sqlalchemy.delete(Document)",
        "delete(Document.__table__)",
        "DOCUMENTS.delete()",
        "work.session.delete(document)",
        "text('DELETE FROM documents WHERE id = :id')",
        "text(f'''WITH gone AS (delete  from ONLY public.documents RETURNING {x}) SELECT 1''')",
        "DocumentRepository(session).delete(x)",
        "documents.delete(x)",
    ],
)
def test_the_walk_would_find_it(written: str) -> None:
    assert any(destroys(node) for node in ast.walk(ast.parse(written)))


@pytest.mark.parametrize("written", ["delete(Deletion)", "members.delete(x)", "text('DELETE FROM document_pages')"])
def test_the_walk_finds_nothing_else(written: str) -> None:
    assert not any(destroys(node) for node in ast.walk(ast.parse(written)))


def test_the_database_lets_no_removal_of_something_else_take_a_document_along(purge_env: PurgeHarness) -> None:
    """A cascade would bypass `may_purge`."""
    to_documents = """SELECT conname FROM pg_constraint
                       WHERE contype = 'f' AND conrelid = 'documents'::regclass AND confdeltype <> 'a'"""
    assert purge_env.worker_env.seed.rows(to_documents) == []


async def test_what_may_not_be_destroyed_stays_whoever_asks(
    purge_env: PurgeHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Held(Conflict):
        """It must be kept"""

    async def refuse(*_: object) -> None:
        raise Held

    archived, failed = await purge_env.archived(), purge_env.failed()
    name = purge_env.worker_env.seed.one("SELECT name FROM documents WHERE id = %s", failed)
    monkeypatch.setattr(purge, "may_purge", refuse)
    files = {"file": (name, b"%PDF-1.4 new")}
    for answer in (
        await purge_env.purge(archived),
        await purge_env.clear(failed),
        await purge_env.client.post(f"{purge_env.kb_path}/documents", files=files),
    ):
        assert (answer.status_code, answer.json()) == (409, {"detail": "It must be kept"})
    body = {"document_ids": [str(archived)]}
    bulk = (await purge_env.client.post(f"{purge_env.kb_path}/documents/bulk-purge", json=body)).json()
    assert (bulk["purged"], bulk["failed_ids"]) == (0, [str(archived)])
    removal = await purge_env.client.delete(purge_env.kb_path, params={"purge": "true"})
    assert (removal.status_code, removal.json()["remaining"]) == (202, 2)
    assert purge_env.worker_env.seed.one("SELECT count(*) FROM receipts") == 0
