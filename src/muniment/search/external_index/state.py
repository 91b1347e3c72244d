"""What the rows expect an external index to hold of a document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.documents.tables import Status
from muniment.search.tables import IndexingVariantRow
from muniment.storage.vectors.port import Model


@dataclass(frozen=True)
class DocumentIndexState:
    document_id: UUID
    status: str
    index_epoch: int | None
    """Of the run whose passages count."""
    text_id: UUID | None
    kept_epochs: frozenset[int]
    """Of what an earlier revision showed, as long as it can be brought back."""
    expected: Mapping[str, int]
    """How many passages there are of each model."""
    is_settled: bool
    """Whether nobody is at it: no run, no move on its way, no change a moment ago."""

    @property
    def is_shown(self) -> bool:
        """Whether its passages must be there, seen or hidden."""
        return self.status in (Status.COMPLETED, Status.ARCHIVED) and None not in (self.index_epoch, self.text_id)


# With `held`, the document stands still until the transaction ends, and a worker's fence waits.
_SAID = """
    SELECT d.id, d.status, d.index_epoch, d.artifact_text_id,
           ARRAY(SELECT (r.shelved->>'index_epoch')::integer FROM document_revisions r
                  WHERE r.document_id = d.id AND r.shelved->>'index_epoch' IS NOT NULL),
           (SELECT coalesce(jsonb_object_agg(i.fingerprint, i.total_chunks), '{{}}') FROM artifact_indexes i
             WHERE i.artifact_text_id = d.artifact_text_id),
           d.updated_at < :settled_before
               AND NOT EXISTS (SELECT FROM index_intents i WHERE i.document_id = d.id)
               AND NOT EXISTS (SELECT FROM document_processing_runs r
                                WHERE r.document_id = d.id AND r.status IN ('queued', 'in_progress'))
      FROM documents d WHERE d.knowledge_base_id = :kb_id {which}
"""


_NEXT = text(_SAID.format(which="AND d.id > :after ORDER BY d.id LIMIT :limit"))


_THESE = text(_SAID.format(which="AND d.id = ANY(:ids)"))


_HELD = text(_SAID.format(which="AND d.id = ANY(:ids) FOR NO KEY UPDATE OF d"))


# A document that is being forgotten has an intent, and no row any more.
_KNOWN = text("""
    SELECT id FROM documents WHERE knowledge_base_id = :kb_id AND id = ANY(:ids)
    UNION SELECT document_id FROM index_intents WHERE document_id = ANY(:ids)
""")


class SaidRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def list_next(
        self, kb_id: UUID, settled_before: datetime, *, after: UUID, limit: int
    ) -> Sequence[DocumentIndexState]:
        """The next documents behind `after`, by their ids."""
        values = {"kb_id": kb_id, "settled_before": settled_before, "after": after, "limit": limit}
        return [_said(*row) for row in await self._session.execute(_NEXT, values)]

    async def list_of(self, kb_id: UUID, settled_before: datetime, ids: Sequence[UUID]) -> Sequence[DocumentIndexState]:
        values = {"kb_id": kb_id, "settled_before": settled_before, "ids": list(ids)}
        return [_said(*row) for row in await self._session.execute(_THESE, values)]

    async def hold(self, kb_id: UUID, settled_before: datetime, document_id: UUID) -> DocumentIndexState | None:
        """As `list_of`, and nobody changes it before the transaction ends."""
        values = {"kb_id": kb_id, "settled_before": settled_before, "ids": [document_id]}
        found = (await self._session.execute(_HELD, values)).one_or_none()
        return _said(*found) if found else None

    async def list_known(self, kb_id: UUID, ids: Sequence[UUID]) -> set[UUID]:
        """Those that are there, or whose removal the index is being told of."""
        return set(await self._session.scalars(_KNOWN, {"kb_id": kb_id, "ids": list(ids)}))

    async def list_models(self) -> Sequence[Model]:
        columns = (IndexingVariantRow.model, IndexingVariantRow.dimensions, IndexingVariantRow.fingerprint)
        return [Model(*row) for row in await self._session.execute(select(*columns))]


def _said(
    document_id: UUID,
    status: str,
    index_epoch: int | None,
    text_id: UUID | None,
    kept_epochs: Sequence[int],
    expected: Mapping[str, int],
    is_settled: bool,
) -> DocumentIndexState:
    return DocumentIndexState(document_id, status, index_epoch, text_id, frozenset(kept_epochs), expected, is_settled)
