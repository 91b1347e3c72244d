"""Compare rows with the vectors of an external index, in both directions, and repair it by copying.

Completed documents without vectors of the active variant are reported; only `muniment reprocess` can compute them. See
docs/design.md#external-index.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from uuid import UUID

from sqlalchemy import Select, exists, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.documents.runs import ProcessingRun, RunStatus
from muniment.documents.tables import Document, Status
from muniment.reconcile.drift import Drift, DriftKind, ReconcileScope, StoreName
from muniment.search.external_index.copier import IndexCopier
from muniment.search.external_index.state import IndexState, IndexStateRepository
from muniment.search.tables import ArtifactIndex, IndexingVariantRow
from muniment.storage.db.advisory_locks import AdvisoryLocks, document_lock_name
from muniment.storage.db.base import FIRST_ID
from muniment.storage.db.work import Database
from muniment.storage.vectors.port import ExternalIndex, IndexedDocument, IndexingVariant, StoredPoint


@dataclass
class VectorCount:
    state: IndexState
    found: int = 0
    """Number of current points."""
    wrong_status: int = 0
    stale_epochs: set[int] = field(default_factory=set)

    def add(self, point: StoredPoint) -> None:
        state = self.state
        if point.epoch in state.snapshot_epochs:
            return
        if point.epoch != state.index_epoch or (state.is_indexed and not self._is_expected(point)):
            self.stale_epochs.add(point.epoch)
            return
        self.found += 1
        # The index is not queried for documents that are neither completed nor archived, so their visibility does not
        # matter.
        if state.is_indexed and point.is_visible != (state.status == Status.COMPLETED):
            self.wrong_status += 1

    def _is_expected(self, point: StoredPoint) -> bool:
        return point.fingerprint is not None and point.chunk_index < self.state.expected.get(point.fingerprint, 0)

    @property
    def is_missing(self) -> bool:
        return self.state.is_indexed and self.found < sum(self.state.expected.values())

    @property
    def kinds(self) -> set[DriftKind]:
        """Return the kinds of drift; none while a process is working on the document."""
        if not self.state.is_idle:
            return set()
        wrong = {
            DriftKind.STALE: self.stale_epochs,
            DriftKind.WRONG_STATUS: self.wrong_status,
            DriftKind.MISSING: self.is_missing,
        }
        return {kind for kind, is_so in wrong.items() if is_so}


@dataclass(frozen=True)
class IndexCopyRepair:
    database: Database
    index: ExternalIndex
    locks: AdvisoryLocks

    async def list_variants(self, scope: ReconcileScope) -> Sequence[IndexingVariant]:
        async with self.database.service_work(scope.service) as work:
            return await IndexStateRepository(work.session).list_variants()

    async def count_vectors(
        self, kb_id: UUID, models: Sequence[IndexingVariant], states: Sequence[IndexState]
    ) -> Sequence[VectorCount]:
        """Count the points of these documents, except those that are being worked on."""
        counts = {each.document_id: VectorCount(each) for each in states if each.is_idle}
        if counts:
            async for point in self.index.iter_points(kb_id, models, document_ids=list(counts)):
                counts[point.document_id].add(point)
        return list(counts.values())

    async def run(self, scope: ReconcileScope, document: IndexedDocument) -> bool:
        """Repair the copies of a document.

        Return False if another process is working on the document or changed it meanwhile.
        """
        # A worker that holds the lock may be writing passages.
        async with self.locks.try_acquire(document_lock_name(document.document_id)) as is_alone:
            return is_alone and await self._run_locked(scope, document)

    async def _run_locked(self, scope: ReconcileScope, document: IndexedDocument) -> bool:
        async with self.database.service_work(scope.service) as work:
            before = await self._find(work.session, scope, document)
            is_known = await IndexStateRepository(work.session).list_existing(document.kb_id, [document.document_id])
        if before is None and is_known:
            return False
        if before is None:
            await self.index.delete_document(document)
        elif not before.is_idle:
            return False
        else:
            await self._apply(scope, document, before)
        async with self.database.service_work(scope.service) as work:
            # Locked during the comparison: a later change of the row updates the index after us.
            after = await IndexStateRepository(work.session).lock(
                document.kb_id, scope.unchanged_since, document.document_id
            )
        return after == before

    async def _find(self, session: AsyncSession, scope: ReconcileScope, document: IndexedDocument) -> IndexState | None:
        repository = IndexStateRepository(session)
        found = await repository.list_by_ids(document.kb_id, scope.unchanged_since, [document.document_id])
        return found[0] if found else None

    async def _apply(self, scope: ReconcileScope, document: IndexedDocument, state: IndexState) -> None:
        (count,) = await self.count_vectors(document.kb_id, await self.list_variants(scope), [state])
        if count.stale_epochs:
            await self.index.delete_epochs(document, sorted(count.stale_epochs))
        if not state.is_indexed:
            return
        assert state.text_id is not None
        assert state.index_epoch is not None
        is_missing = DriftKind.MISSING in count.kinds or state.index_epoch in count.stale_epochs
        if is_missing:
            await IndexCopier(self.database, self.index).copy(document, state.text_id, state.index_epoch)
        if is_missing or count.wrong_status:
            await self.index.set_visible(document, is_visible=state.status == Status.COMPLETED)


DOCUMENT_BATCH = 100


POINT_BATCH = 1000


@dataclass(frozen=True)
class IndexCopyCheck:
    database: Database
    index: ExternalIndex
    copy_repair: IndexCopyRepair
    store: StoreName = StoreName.INDEX

    async def scan(self, scope: ReconcileScope) -> AsyncIterator[Drift]:
        models = await self.copy_repair.list_variants(scope)
        for kb_id in scope.kb_ids:
            async for states in self._batches(scope, kb_id):
                for drift in await self._compare(kb_id, models, states):
                    yield drift
                scope.report_progress(len(states))
            async for document_id in self._list_orphans(scope, kb_id):
                yield Drift(self.store, DriftKind.ORPHANED, str(document_id), kb_id, document_id)

    async def _batches(self, scope: ReconcileScope, kb_id: UUID) -> AsyncIterator[Sequence[IndexState]]:
        after = FIRST_ID
        while True:
            async with self.database.service_work(scope.service) as work:
                states = await IndexStateRepository(work.session).list_next(
                    kb_id, scope.unchanged_since, after=after, limit=DOCUMENT_BATCH
                )
            if not states:
                return
            yield states
            after = states[-1].document_id

    async def _compare(
        self, kb_id: UUID, models: Sequence[IndexingVariant], states: Sequence[IndexState]
    ) -> Sequence[Drift]:
        counts = await self.copy_repair.count_vectors(kb_id, models, states)
        return [
            Drift(self.store, kind, str(count.state.document_id), kb_id, count.state.document_id)
            for count in counts
            for kind in sorted(count.kinds)
        ]

    async def _list_orphans(self, scope: ReconcileScope, kb_id: UUID) -> AsyncIterator[UUID]:
        """Yield documents that have points but no row, each once."""
        reported, page = set[UUID](), set[UUID]()
        async for point in self.index.iter_points(kb_id):
            page.add(point.document_id)
            if len(page) >= POINT_BATCH:
                for document_id in await self._list_unknown(scope, kb_id, page - reported):
                    reported.add(document_id)
                    yield document_id
                page.clear()
        for document_id in await self._list_unknown(scope, kb_id, page - reported):
            yield document_id

    async def _list_unknown(self, scope: ReconcileScope, kb_id: UUID, ids: set[UUID]) -> set[UUID]:
        async with self.database.service_work(scope.service) as work:
            return ids - await IndexStateRepository(work.session).list_existing(kb_id, list(ids))

    async def confirm(self, scope: ReconcileScope, seen: Sequence[Drift]) -> Sequence[Drift]:
        confirmed = list[Drift]()
        for kb_id, of_kb in groupby(seen, key=lambda drift: drift.kb_id):
            assert kb_id is not None
            confirmed += await self._confirm(scope, kb_id, list(of_kb))
        return confirmed

    async def _confirm(self, scope: ReconcileScope, kb_id: UUID, seen: Sequence[Drift]) -> Sequence[Drift]:
        ids = {drift.document_id for drift in seen if drift.document_id}
        async with self.database.service_work(scope.service) as work:
            states = await IndexStateRepository(work.session).list_by_ids(kb_id, scope.unchanged_since, list(ids))
        again = set(await self._compare(kb_id, await self.copy_repair.list_variants(scope), states))
        unknown = await self._list_unknown(scope, kb_id, ids)
        orphaned = {
            each for each in unknown if await self.index.count(IndexedDocument(each, kb_id, scope.organization_id))
        }
        return [drift for drift in seen if drift in again or _is_orphan_of(drift, orphaned)]

    async def repair(self, scope: ReconcileScope, drift: Drift) -> bool:
        assert drift.kb_id is not None
        assert drift.document_id is not None
        return await self.copy_repair.run(scope, IndexedDocument(drift.document_id, drift.kb_id, scope.organization_id))


def _is_orphan_of(drift: Drift, orphaned: set[UUID]) -> bool:
    return drift.kind is DriftKind.ORPHANED and drift.document_id in orphaned


UNINDEXED_BATCH = 500


class UnindexedDocumentRepository:
    def __init__(self, session: AsyncSession, *, needs_epoch: bool) -> None:
        self._session = session
        self._needs_epoch = needs_epoch

    async def list_next(
        self, kb_ids: Sequence[UUID], unchanged_since: datetime, *, after: UUID, limit: int
    ) -> Sequence[tuple[UUID, UUID]]:
        """Return ids of documents with those of their knowledge bases."""
        query = self._select(kb_ids, unchanged_since).where(Document.id > after).order_by(Document.id).limit(limit)
        return [(document_id, kb_id) for document_id, kb_id in await self._session.execute(query)]

    async def list_among(self, kb_ids: Sequence[UUID], unchanged_since: datetime, ids: Sequence[UUID]) -> set[UUID]:
        return set(await self._session.scalars(self._select(kb_ids, unchanged_since).where(Document.id.in_(ids))))

    def _select(self, kb_ids: Sequence[UUID], unchanged_since: datetime) -> Select[UUID, UUID]:
        open_run = exists().where(
            ProcessingRun.document_id == Document.id,
            ProcessingRun.status.in_((RunStatus.QUEUED, RunStatus.IN_PROGRESS)),
        )
        index = exists().where(
            ArtifactIndex.artifact_text_id == Document.artifact_text_id,
            ArtifactIndex.fingerprint == IndexingVariantRow.fingerprint,
        )
        return (
            select(Document.id, Document.kb_id)
            .join(IndexingVariantRow, IndexingVariantRow.is_active.is_(True))
            .where(
                Document.status == Status.COMPLETED,
                Document.updated_at < unchanged_since,
                Document.kb_id.in_(kb_ids),
                ~open_run,
                or_(~index, Document.index_epoch.is_(None)) if self._needs_epoch else ~index,
            )
        )


@dataclass(frozen=True)
class UnindexedDocuments:
    database: Database
    needs_epoch: bool
    """Whether a document without an index epoch counts as unindexed, as it does for an external index."""
    store: StoreName = StoreName.ARTIFACTS

    async def scan(self, scope: ReconcileScope) -> AsyncIterator[Drift]:
        after = FIRST_ID
        while True:
            async with self.database.service_work(scope.service) as work:
                found = await UnindexedDocumentRepository(work.session, needs_epoch=self.needs_epoch).list_next(
                    scope.kb_ids, scope.unchanged_since, after=after, limit=UNINDEXED_BATCH
                )
            if not found:
                return
            for document_id, kb_id in found:
                yield Drift(self.store, DriftKind.MISSING, str(document_id), kb_id, document_id)
            after = found[-1][0]

    async def confirm(self, scope: ReconcileScope, seen: Sequence[Drift]) -> Sequence[Drift]:
        ids = [drift.document_id for drift in seen if drift.document_id]
        async with self.database.service_work(scope.service) as work:
            unindexed = UnindexedDocumentRepository(work.session, needs_epoch=self.needs_epoch)
            still = await unindexed.list_among(scope.kb_ids, scope.unchanged_since, ids)
        return [drift for drift in seen if drift.document_id in still]

    async def repair(self, scope: ReconcileScope, drift: Drift) -> bool:
        """Never repair: vectors must be computed, which the operator decides."""
        return False
