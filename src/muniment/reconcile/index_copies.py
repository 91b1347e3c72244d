"""Check rows against the vectors of an external index (DESIGN §5.5), in both directions, and repair it by copying.

Completed documents without vectors of the active variant are reported; only `muniment reprocess` can compute them.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.documents.tables import Status
from muniment.reconcile.drift import Drift, Kind, Scope, Store
from muniment.search.external_index.copier import Copies
from muniment.search.external_index.state import DocumentIndexState, SaidRepository
from muniment.storage.db.advisory_locks import AdvisoryLocks, lock_of
from muniment.storage.db.work import Database
from muniment.storage.vectors.port import Held, Indexed, Model, VectorIndex


@dataclass
class Tally:
    said: DocumentIndexState
    found: int = 0
    """Of those that count."""
    wrong_status: int = 0
    stale_epochs: set[int] = field(default_factory=set)

    def add(self, held: Held) -> None:
        said = self.said
        if held.epoch in said.kept_epochs:
            return
        if held.epoch != said.index_epoch or (said.is_shown and not self._is_expected(held)):
            self.stale_epochs.add(held.epoch)
            return
        self.found += 1
        # Of a document that is neither, nobody asks the index: it says whatever was said last.
        if said.is_shown and held.is_visible != (said.status == Status.COMPLETED):
            self.wrong_status += 1

    def _is_expected(self, held: Held) -> bool:
        return held.fingerprint is not None and held.chunk_index < self.said.expected.get(held.fingerprint, 0)

    @property
    def is_missing(self) -> bool:
        return self.said.is_shown and self.found < sum(self.said.expected.values())

    @property
    def kinds(self) -> set[Kind]:
        """What is wrong with it; nothing, where somebody is at it."""
        if not self.said.is_settled:
            return set()
        wrong = {Kind.STALE: self.stale_epochs, Kind.WRONG_STATUS: self.wrong_status, Kind.MISSING: self.is_missing}
        return {kind for kind, is_so in wrong.items() if is_so}


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

    async def _compare(
        self, kb_id: UUID, models: Sequence[Model], said: Sequence[DocumentIndexState]
    ) -> Sequence[Drift]:
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


UNINDEXED_BATCH = 500


_LACKING = """
    SELECT d.id, d.knowledge_base_id FROM documents d, indexing_variants v
     WHERE v.is_active AND d.status = 'completed' AND d.updated_at < :settled_before
       AND d.knowledge_base_id = ANY(:kb_ids)
       AND NOT EXISTS (SELECT FROM document_processing_runs r
                        WHERE r.document_id = d.id AND r.status IN ('queued', 'in_progress'))
       AND ((:needs_epoch AND d.index_epoch IS NULL)
            OR NOT EXISTS (SELECT FROM artifact_indexes i
                            WHERE i.artifact_text_id = d.artifact_text_id AND i.fingerprint = v.fingerprint))
       AND {which}
"""


_NEXT = text(_LACKING.format(which="d.id > :after ORDER BY d.id LIMIT :limit"))


_THESE = text(_LACKING.format(which="d.id = ANY(:ids)"))


class LackingRepository:
    def __init__(self, session: AsyncSession, *, needs_epoch: bool) -> None:
        self._session = session
        self._needs_epoch = needs_epoch

    async def list_next(
        self, kb_ids: Sequence[UUID], settled_before: datetime, *, after: UUID, limit: int
    ) -> Sequence[tuple[UUID, UUID]]:
        """Ids of documents and of their knowledge bases."""
        values = {"after": after, "limit": limit, **self._common(kb_ids, settled_before)}
        return [(document_id, kb_id) for document_id, kb_id in await self._session.execute(_NEXT, values)]

    async def list_of(self, kb_ids: Sequence[UUID], settled_before: datetime, ids: Sequence[UUID]) -> set[UUID]:
        values = {"ids": list(ids), **self._common(kb_ids, settled_before)}
        return set(await self._session.scalars(_THESE, values))

    def _common(self, kb_ids: Sequence[UUID], settled_before: datetime) -> dict[str, object]:
        return {"kb_ids": list(kb_ids), "settled_before": settled_before, "needs_epoch": self._needs_epoch}


@dataclass(frozen=True)
class LackingDocuments:
    database: Database
    holds_copies: bool
    store: Store = Store.ARTIFACTS

    async def look(self, scope: Scope) -> AsyncIterator[Drift]:
        after = FIRST
        while True:
            async with self.database.service_work(scope.service) as work:
                found = await LackingRepository(work.session, needs_epoch=self.holds_copies).list_next(
                    scope.kb_ids, scope.settled_before, after=after, limit=UNINDEXED_BATCH
                )
            if not found:
                return
            for document_id, kb_id in found:
                yield Drift(self.store, Kind.MISSING, str(document_id), kb_id, document_id)
            after = found[-1][0]

    async def confirm(self, scope: Scope, seen: Sequence[Drift]) -> Sequence[Drift]:
        ids = [drift.document_id for drift in seen if drift.document_id]
        async with self.database.service_work(scope.service) as work:
            lacking = LackingRepository(work.session, needs_epoch=self.holds_copies)
            still = await lacking.list_of(scope.kb_ids, scope.settled_before, ids)
        return [drift for drift in seen if drift.document_id in still]

    async def repair(self, scope: Scope, drift: Drift) -> bool:
        """Not by copying: somebody has to compute, which the operator decides."""
        return False
