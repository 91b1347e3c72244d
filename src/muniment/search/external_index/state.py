"""Query what an external index should hold of each document, according to PostgreSQL."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.documents.runs import ProcessingRun
from muniment.documents.tables import Document, Revision, Status
from muniment.search.tables import IndexingVariantRow
from muniment.storage.vectors.port import IndexingVariant
from muniment.storage.vectors.tables import IndexIntent


@dataclass(frozen=True)
class IndexState:
    """Everything PostgreSQL knows about the copies of one document in an external index.

    Reconciliation compares it with the stored points. Settling an intent needs only a `DesiredIndexState`.
    """

    document_id: UUID
    status: str
    index_epoch: int | None
    """Epoch of the run whose passages search returns."""
    text_id: UUID | None
    snapshot_epochs: frozenset[int]
    """Index epochs of earlier revisions that can still be restored."""
    expected: Mapping[str, int]
    """Number of passages per variant, by fingerprint."""
    is_idle: bool
    """Whether nothing is changing the document: it has no run, no open intent and no recent change."""

    @property
    def is_indexed(self) -> bool:
        """Whether the index must hold the passages of the document, visible or hidden."""
        return self.status in (Status.COMPLETED, Status.ARCHIVED) and None not in (self.index_epoch, self.text_id)


_STATE = f"""
    SELECT d.id, d.status, d.index_epoch, d.artifact_text_id,
           ARRAY(SELECT (r.shelved->>'index_epoch')::integer FROM {Revision.__table__} r
                  WHERE r.document_id = d.id AND r.shelved->>'index_epoch' IS NOT NULL),
           (SELECT coalesce(jsonb_object_agg(i.fingerprint, i.total_chunks), '{{}}') FROM artifact_indexes i
             WHERE i.artifact_text_id = d.artifact_text_id AND i.embedded_at IS NOT NULL),
           d.updated_at < :settled_before
               AND NOT EXISTS (SELECT FROM {IndexIntent.__table__} i WHERE i.document_id = d.id)
               AND NOT EXISTS (SELECT FROM {ProcessingRun.__table__} r
                                WHERE r.document_id = d.id AND r.status IN ('queued', 'in_progress'))
      FROM {Document.__table__} d WHERE d.knowledge_base_id = :kb_id
"""


_NEXT = text(f"{_STATE} AND d.id > :after ORDER BY d.id LIMIT :limit")


_THESE = text(f"{_STATE} AND d.id = ANY(:ids)")


_LOCKED = text(f"{_STATE} AND d.id = ANY(:ids) FOR NO KEY UPDATE OF d")


# A document that is being deleted has an intent and no row.
_EXISTING = text(f"""
    SELECT id FROM {Document.__table__} WHERE knowledge_base_id = :kb_id AND id = ANY(:ids)
    UNION SELECT document_id FROM {IndexIntent.__table__} WHERE document_id = ANY(:ids)
""")


class IndexStateRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def list_next(
        self, kb_id: UUID, unchanged_since: datetime, *, after: UUID, limit: int
    ) -> Sequence[IndexState]:
        """Return the next documents after `after`, ordered by id."""
        values = {"kb_id": kb_id, "settled_before": unchanged_since, "after": after, "limit": limit}
        return [_to_state(*row) for row in await self._session.execute(_NEXT, values)]

    async def list_by_ids(self, kb_id: UUID, unchanged_since: datetime, ids: Sequence[UUID]) -> Sequence[IndexState]:
        """Return the given documents that exist in this knowledge base."""
        values = {"kb_id": kb_id, "settled_before": unchanged_since, "ids": list(ids)}
        return [_to_state(*row) for row in await self._session.execute(_THESE, values)]

    async def lock(self, kb_id: UUID, unchanged_since: datetime, document_id: UUID) -> IndexState | None:
        """Return the state of one document and lock its row: until the transaction ends, a worker's fence waits."""
        values = {"kb_id": kb_id, "settled_before": unchanged_since, "ids": [document_id]}
        found = (await self._session.execute(_LOCKED, values)).one_or_none()
        return _to_state(*found) if found else None

    async def list_existing(self, kb_id: UUID, ids: Sequence[UUID]) -> set[UUID]:
        """Return those of the ids that have a row, or an intent to delete them from the index."""
        return set(await self._session.scalars(_EXISTING, {"kb_id": kb_id, "ids": list(ids)}))

    async def list_variants(self) -> Sequence[IndexingVariant]:
        columns = (IndexingVariantRow.fingerprint, IndexingVariantRow.model, IndexingVariantRow.dimensions)
        found = await self._session.execute(select(*columns))
        return [IndexingVariant(**row) for row in found.mappings()]


def _to_state(
    document_id: UUID,
    status: str,
    index_epoch: int | None,
    text_id: UUID | None,
    snapshot_epochs: Sequence[int],
    expected: Mapping[str, int],
    is_idle: bool,
) -> IndexState:
    return IndexState(document_id, status, index_epoch, text_id, frozenset(snapshot_epochs), expected, is_idle)
