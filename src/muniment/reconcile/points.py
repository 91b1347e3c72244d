"""Rows and passages in an index that holds copies (DESIGN §5.5), in both directions."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from uuid import UUID

from muniment.reconcile.drift import Drift, Kind, Scope, Store
from muniment.reconcile.point_repair import PointRepair
from muniment.reconcile.said import DocumentIndexState, SaidRepository
from muniment.storage.db.work import Database
from muniment.storage.vectors.port import Indexed, Model, VectorIndex

DOCUMENT_BATCH = 100
POINTS = 1000
FIRST = UUID(int=0)


@dataclass(frozen=True)
class PointComparison:
    database: Database
    index: VectorIndex
    repairs: PointRepair
    store: Store = Store.INDEX

    async def look(self, scope: Scope) -> AsyncIterator[Drift]:
        models = await self.repairs.models(scope)
        for kb_id in scope.kb_ids:
            async for said in self._batches(scope, kb_id):
                for drift in await self._compare(kb_id, models, said):
                    yield drift
                scope.advance(len(said))
            async for document_id in self._orphans(scope, kb_id):
                yield Drift(self.store, Kind.ORPHANED, str(document_id), kb_id, document_id)

    async def _batches(self, scope: Scope, kb_id: UUID) -> AsyncIterator[Sequence[DocumentIndexState]]:
        after = FIRST
        while True:
            async with self.database.service_work(scope.service) as work:
                said = await SaidRepository(work.session).list_next(
                    kb_id, scope.settled_before, after=after, limit=DOCUMENT_BATCH
                )
            if not said:
                return
            yield said
            after = said[-1].document_id

    async def _compare(self, kb_id: UUID, models: Sequence[Model], said: Sequence[DocumentIndexState]) -> Sequence[Drift]:
        tallies = await self.repairs.tally(kb_id, models, said)
        return [
            Drift(self.store, kind, str(tally.said.document_id), kb_id, tally.said.document_id)
            for tally in tallies
            for kind in sorted(tally.kinds)
        ]

    async def _orphans(self, scope: Scope, kb_id: UUID) -> AsyncIterator[UUID]:
        """Documents that have passages and no row, each once."""
        told, page = set[UUID](), set[UUID]()
        async for held in self.index.list_held(kb_id):
            page.add(held.document_id)
            if len(page) >= POINTS:
                for document_id in await self._unknown(scope, kb_id, page - told):
                    told.add(document_id)
                    yield document_id
                page.clear()
        for document_id in await self._unknown(scope, kb_id, page - told):
            yield document_id

    async def _unknown(self, scope: Scope, kb_id: UUID, ids: set[UUID]) -> set[UUID]:
        async with self.database.service_work(scope.service) as work:
            return ids - await SaidRepository(work.session).list_known(kb_id, list(ids))

    async def confirm(self, scope: Scope, seen: Sequence[Drift]) -> Sequence[Drift]:
        confirmed = list[Drift]()
        for kb_id, of_kb in groupby(seen, key=lambda drift: drift.kb_id):
            assert kb_id is not None
            confirmed += await self._confirm(scope, kb_id, list(of_kb))
        return confirmed

    async def _confirm(self, scope: Scope, kb_id: UUID, seen: Sequence[Drift]) -> Sequence[Drift]:
        ids = {drift.document_id for drift in seen if drift.document_id}
        async with self.database.service_work(scope.service) as work:
            said = await SaidRepository(work.session).list_of(kb_id, scope.settled_before, list(ids))
        again = set(await self._compare(kb_id, await self.repairs.models(scope), said))
        unknown = await self._unknown(scope, kb_id, ids)
        orphaned = {each for each in unknown if await self.index.count(Indexed(each, kb_id, scope.organization_id))}
        return [drift for drift in seen if drift in again or _is_orphan_of(drift, orphaned)]

    async def repair(self, scope: Scope, drift: Drift) -> bool:
        assert drift.kb_id is not None
        assert drift.document_id is not None
        return await self.repairs.put_right(scope, Indexed(drift.document_id, drift.kb_id, scope.organization_id))


def _is_orphan_of(drift: Drift, orphaned: set[UUID]) -> bool:
    return drift.kind is Kind.ORPHANED and drift.document_id in orphaned
