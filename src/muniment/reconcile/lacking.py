"""Completed documents without passages of the model that answers. Only `muniment reprocess` can make them."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.reconcile.drift import Drift, Kind, Scope, Store
from muniment.storage.db.work import Database

UNINDEXED_BATCH = 500
FIRST = UUID(int=0)

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
