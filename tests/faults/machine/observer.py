"""Compare the installation with the model: through the API as each user, and directly in the stores."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any
from uuid import UUID

from tests.faults.machine.driver import ModelDriver
from tests.faults.machine.model import ACCESS_LEVELS, MANAGERS, PEOPLE, Document, Expected, Model
from tests.faults.moves.inspection import left_of

EVERY_STATUS = {"status": ["pending", "processing", "completed", "failed", "archived"], "limit": 100}
DOCUMENTS = """
    SELECT id, knowledge_base_id, epoch, name, status, revision, last_error, completed_at IS NOT NULL FROM documents
"""
LINES = "SELECT document_id, action, count(*) FROM audit_events WHERE document_id IS NOT NULL GROUP BY 1, 2"
RECEIPTS = "SELECT document_id, move, signed_at IS NOT NULL FROM receipts"
ARTIFACTS_OF_NOBODY = "artifacts of nobody"
"""The artifact of a replaced revision stays until garbage collection."""


class ModelObserver:
    def __init__(self, driver: ModelDriver, model: Model) -> None:
        self._driver, self._model = driver, model
        self._modes = cycle(["text", "vector", "hybrid"])
        self._readers = cycle(PEOPLE)

    async def check(self, touched: Sequence[Document]) -> None:
        """Check everything that a step may have changed."""
        self.check_rows()
        mode, one = next(self._modes), next(self._readers)
        kbs = {document.kb for document in touched}
        for who in PEOPLE:
            await self._check_search(who, mode)
            for kb in ACCESS_LEVELS if who == one else kbs:
                await self._check_list(who, kb)
        await self._check_archived(one)
        await self._check_receipts(one)
        for document in touched:
            await self._check_download(next(self._readers), document)

    def check_rows(self) -> None:
        """Check the rows, after every step. Equal rows give every user the same answers."""
        expected = [(one.id, self._driver.kbs[one.kb], one.epoch, *_state(one)) for one in self._model.there()]
        assert sorted(self._driver.seed.rows(DOCUMENTS)) == sorted(expected)
        self._check_lines()

    def _check_lines(self) -> None:
        """Check that the audit log has exactly the expected events, and that every deleted document has a receipt."""
        lines: dict[UUID, Counter[str]] = {}
        for document_id, action, count in self._driver.seed.rows(LINES):
            lines.setdefault(document_id, Counter())[action] = count
        assert lines == {document.id: document.lines for document in self._model.documents}
        receipts = sorted((document_id, move) for document_id, move, _ in self._driver.seed.rows(RECEIPTS))
        gone = [document for document in self._model.documents if not document.is_there]
        assert receipts == sorted((document.id, document.ending) for document in gone)
        assert {document.id for document in gone if document.is_proven} <= self._signed()

    def _signed(self) -> set[UUID]:
        return {document_id for document_id, _, is_signed in self._driver.seed.rows(RECEIPTS) if is_signed}

    async def _check_list(self, who: str, kb: str) -> None:
        answer = await self._driver.ask(who, "GET", self._driver.path(kb), params=EVERY_STATUS)
        expected = self._model.listed(who, kb)
        if expected is None:
            assert (answer.status_code, answer.json()) == (404, {"detail": "Knowledge base not found"}), who
            return
        shown = {UUID(item["id"]): _shown(item) for item in answer.json()["items"]}
        assert shown == {document.id: _state(document) for document in expected.values()}, (who, kb)

    async def _check_search(self, who: str, mode: str) -> None:
        items = await self._items(who, "/api/v1/search", q="contracts", mode=mode, limit=50)
        found = {UUID(item["document_id"]): item["snippet"] for item in items}
        expected = {document_id: content.text for document_id, content in self._model.found(who).items()}
        assert found == expected, (who, mode)

    async def _check_archived(self, who: str) -> None:
        items = await self._items(who, "/api/v1/documents/archived", limit=100)
        assert {UUID(item["id"]) for item in items} == self._model.archived(who), who

    async def _check_receipts(self, who: str) -> None:
        kbs = [kb for kb in ACCESS_LEVELS if ACCESS_LEVELS[kb].get(who) in MANAGERS]
        theirs = {document.id for document in self._model.documents if document.kb in kbs}
        items = await self._items(who, "/api/v1/receipts", limit=100)
        assert {UUID(item["document_id"]) for item in items} == theirs & self._signed(), who

    async def _items(self, who: str, path: str, **parameters: Any) -> list[dict[str, Any]]:
        answer = await self._driver.ask(who, "GET", path, params=parameters)
        assert answer.status_code == 200, (who, answer.text)
        return list(answer.json()["items"])

    async def _check_download(self, who: str, document: Document) -> None:
        path = self._driver.path(document.kb, document.id, "/download")
        answer = await self._driver.ask(who, "GET", path)
        if self._model.access_level(who, document.kb) is None or not document.is_there:
            assert answer.status_code == 404, (who, document)
        else:
            assert (answer.status_code, answer.content) == (200, document.content.bytes), (who, document)

    def what_was_committed(self, expected: Expected) -> Mapping[str, Any] | None:
        """Return what an unreceived response would have contained, or None if nothing was changed."""
        known = [document.id for document in self._model.documents]
        new = self._driver.seed.rows("SELECT id FROM documents WHERE id <> ALL(%s)", known)
        if new:
            return {"id": str(new[0][0])}
        if not expected.touched or expected.status == 201:
            return None
        first = expected.touched[0]
        lines = self._driver.seed.one("SELECT count(*) FROM audit_events WHERE document_id = %s", first.id)
        return {} if lines > first.lines.total() else None

    async def check_at_rest(self, *, reconciles: bool) -> None:
        """Check after sweeps and repairs that reconciliation finds nothing (docs/design.md#i10) and the audit log is
        intact (docs/design.md#i7)."""
        installation = self._driver.installation
        await installation.sweep()
        if reconciles:
            await installation.reconcile_env.reconcile(repair=True)
            assert await installation.reconcile_env.drift() == {}
        assert await installation.is_chain_intact()
        self._check_nothing_left()

    def _check_nothing_left(self) -> None:
        """Check that no store holds anything of a deleted document (docs/design.md#i3)."""
        gone = [document.id for document in self._model.documents if not document.is_there]
        left = left_of(self._driver.installation, gone)
        if any(document.lines["document_replaced"] for document in self._model.documents):
            left.pop(ARTIFACTS_OF_NOBODY, None)
        assert left == {}


def _state(document: Document) -> tuple[str, str, int, str | None, bool]:
    return document.name, document.status, document.revision, document.last_error, document.was_complete


def _shown(item: Mapping[str, Any]) -> tuple[str, str, int, str | None, bool]:
    was_complete = item["completed_at"] is not None
    return item["name"], item["status"], item["revision"], item["last_error"], was_complete
