"""One document with a passage in an external index that fails on demand."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import text

from muniment.search.external_index.intent_sweep import IntentSweep
from muniment.storage.db.base import new_id, now
from muniment.storage.db.work import Database
from muniment.storage.vectors.external_index_updates import ExternalIndexUpdates, RecordedIndexUpdates
from muniment.storage.vectors.port import IndexedDocument
from muniment.storage.vectors.qdrant.index import QdrantIndex
from tests.support.qdrant import MODEL, NO_WORK, LocalQdrant
from tests.support.seed import Person, Seed


class FaultyIndex(QdrantIndex):
    """Raises `error` before or after every operation while it is set."""

    def __init__(self, client: LocalQdrant) -> None:
        super().__init__(client)
        self.client = client
        self.error: BaseException | None = None
        self.is_done_first = False
        self.asked = 0

    async def set_visible(self, document: IndexedDocument, *, is_visible: bool) -> None:
        self._before()
        await super().set_visible(document, is_visible=is_visible)
        self._after()

    async def delete_document(self, document: IndexedDocument, *, before_epoch: int | None = None) -> None:
        self._before()
        await super().delete_document(document, before_epoch=before_epoch)
        self._after()

    def _before(self) -> None:
        self.asked += 1
        if self.error and not self.is_done_first:
            raise self.error

    def _after(self) -> None:
        if self.error and self.is_done_first:
            raise self.error


class ExternalIndexFixture:
    """One document with one passage in the index, and some lifecycle moves."""

    def __init__(self, seed: Seed, database: Database, index: FaultyIndex, status: str) -> None:
        self.seed, self.database, self.index = seed, database, index
        self.owner: Person = seed.person()
        kb_id = seed.knowledge_base(self.owner)
        document_id = seed.document(kb_id, self.owner, status=status)
        self.document = IndexedDocument(document_id, kb_id, self.owner.organization_id)
        self.moves: ExternalIndexUpdates = RecordedIndexUpdates(database, index)
        self.sweep = IntentSweep(database, index)

    async def archive(self) -> None:
        async with self.moves.hide(self.owner.principal, self.document, 1) as work:
            await work.session.execute(text("UPDATE documents SET status = 'archived'"))

    async def restore(self) -> None:
        async with self.moves.show(self.owner.principal, self.document, 1) as work:
            await work.session.execute(text("UPDATE documents SET status = 'completed'"))

    async def purge(self) -> None:
        async with self.database.work(self.owner.principal) as work:
            await work.session.execute(text("DELETE FROM documents"))
            await self.moves.plan_delete(work, self.document, 1)

    async def settle(self) -> int:
        """Run the intent sweep after the writers' grace period."""
        self.seed.execute("UPDATE index_intents SET next_attempt_at = now()")
        return await self.sweep.settle_due(self.document.organization_id)

    @property
    def status(self) -> str | None:
        found = self.seed.rows("SELECT status FROM documents WHERE id = %s", self.document.document_id)
        return found[0][0] if found else None

    @property
    def intents(self) -> Sequence[tuple[Any, ...]]:
        return self.seed.rows("SELECT wanted, attempts FROM index_intents")

    async def in_index(self) -> str:
        if await self.index.count(self.document) == 0:
            return "gone"
        found = await self.index.nearest(NO_WORK, MODEL, [self.document.kb_id], (1, 0), limit=1)
        return "visible" if found else "hidden"

    def intend(self, document_id: UUID) -> None:
        """Write an intent like a writer that crashed right after its first transaction."""
        self.seed.insert(
            "index_intents",
            document_id=document_id,
            id=new_id(),
            organization_id=self.document.organization_id,
            knowledge_base_id=self.document.kb_id,
            wanted="visible",
            epoch=1,
            next_attempt_at=now(),
        )
