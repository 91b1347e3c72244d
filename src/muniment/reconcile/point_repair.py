"""Putting one document's passages to what its row says: no embedding is computed, they are copied."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from muniment.documents.tables import Status
from muniment.reconcile.drift import Kind, Scope
from muniment.reconcile.said import DocumentIndexState, SaidRepository
from muniment.reconcile.tallies import Tally
from muniment.search.copies import Copies
from muniment.storage.db.locks import AdvisoryLocks, lock_of
from muniment.storage.db.work import Database
from muniment.storage.vectors.port import Indexed, Model, VectorIndex


@dataclass(frozen=True)
class PointRepair:
    database: Database
    index: VectorIndex
    locks: AdvisoryLocks

    async def models(self, scope: Scope) -> Sequence[Model]:
        async with self.database.service_work(scope.service) as work:
            return await SaidRepository(work.session).list_models()

    async def tally(self, kb_id: UUID, models: Sequence[Model], said: Sequence[DocumentIndexState]) -> Sequence[Tally]:
        """What the index holds of these documents, those that nobody is at."""
        tallies = {each.document_id: Tally(each) for each in said if each.is_settled}
        if tallies:
            async for held in self.index.list_held(kb_id, models, document_ids=list(tallies)):
                tallies[held.document_id].add(held)
        return list(tallies.values())

    async def put_right(self, scope: Scope, document: Indexed) -> bool:
        """`False` where somebody is at the document, or changed it while the index was told."""
        # A worker that holds the document may be putting passages there right now.
        async with self.locks.attempt(lock_of(document.document_id)) as is_alone:
            return is_alone and await self._put_right(scope, document)

    async def _put_right(self, scope: Scope, document: Indexed) -> bool:
        async with self.database.service_work(scope.service) as work:
            before = await self._find(work.session, scope, document)
            is_known = await SaidRepository(work.session).list_known(document.kb_id, [document.document_id])
        if before is None and is_known:
            return False
        if before is None:
            await self.index.remove(document)
        elif not before.is_settled:
            return False
        else:
            await self._tell(scope, document, before)
        async with self.database.service_work(scope.service) as work:
            # Held while we compare: whoever changes the row after us tells the index after us.
            held = await SaidRepository(work.session).hold(document.kb_id, scope.settled_before, document.document_id)
        return held == before

    async def _find(self, session: AsyncSession, scope: Scope, document: Indexed) -> DocumentIndexState | None:
        said = SaidRepository(session)
        found = await said.list_of(document.kb_id, scope.settled_before, [document.document_id])
        return found[0] if found else None

    async def _tell(self, scope: Scope, document: Indexed, said: DocumentIndexState) -> None:
        (tally,) = await self.tally(document.kb_id, await self.models(scope), [said])
        if tally.stale_epochs:
            await self.index.remove_epochs(document, sorted(tally.stale_epochs))
        if not said.is_shown:
            return
        assert said.text_id is not None
        assert said.index_epoch is not None
        is_missing = Kind.MISSING in tally.kinds or said.index_epoch in tally.stale_epochs
        if is_missing:
            await Copies(self.database, self.index).put(document, said.text_id, said.index_epoch)
        if is_missing or tally.wrong_status:
            await self.index.set_visible(document, is_visible=said.status == Status.COMPLETED)
