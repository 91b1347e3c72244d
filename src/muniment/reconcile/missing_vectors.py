"""Find texts whose vectors are missing although no job will compute them.

A job that waits, also after errors of the embedding service, is no drift: the metrics of the backlog show it.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from muniment.reconcile.drift import Drift, DriftKind, ReconcileScope, StoreName
from muniment.search.indexing.vectors import VectorRepository
from muniment.storage.db.work import Database
from muniment.storage.tasks.port import TaskQueue


@dataclass(frozen=True)
class PassagesWithoutVectors:
    """Check for incomplete indexes without a job."""

    database: Database
    tasks: TaskQueue
    stalled_after: timedelta
    store: StoreName = StoreName.VECTORS

    async def scan(self, scope: ReconcileScope) -> AsyncIterator[Drift]:
        for target in await self._list(scope):
            yield Drift(self.store, DriftKind.OVERDUE, target)

    async def confirm(self, scope: ReconcileScope, seen: Sequence[Drift]) -> Sequence[Drift]:
        still = set(await self._list(scope))
        return [drift for drift in seen if drift.target in still]

    async def _list(self, scope: ReconcileScope) -> Sequence[str]:
        """Return artifacts with the fingerprints of their incomplete indexes."""
        if not scope.covers_organization:
            return []
        async with self.database.service_work(scope.service) as work:
            overdue = await self.tasks.list_overdue_embeddings(
                work, stalled_after=self.stalled_after, unchanged_since=scope.unchanged_since
            )
        return [f"{artifact_text_id} {fingerprint}" for artifact_text_id, fingerprint in overdue]

    async def repair(self, scope: ReconcileScope, drift: Drift) -> bool:
        """Queue the computation. It continues after the vectors that are stored."""
        artifact_text_id, fingerprint = drift.target.split(" ", 1)
        async with self.database.service_work(scope.service) as work:
            index = await VectorRepository(work.session, UUID(artifact_text_id), fingerprint).find_index()
            if index is None or index.embedded_at is not None:
                return False
            await self.tasks.requeue_embedding(
                work, index.artifact_text_id, index.fingerprint, passages=index.total_chunks
            )
        return True
