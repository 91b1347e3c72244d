"""Query which objects the rows reference: originals by revisions, text packs by artifacts."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Text, any_, bindparam, func, select, union, union_all
from sqlalchemy import cast as sql_cast
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.types import Uuid

from muniment.artifacts.tables import TextArtifact
from muniment.documents.tables import Document, Revision, Upload
from muniment.storage.deletions.tables import LedgerEntry


@dataclass(frozen=True)
class ReferencedObject:
    """An object as a row references it."""

    key: str
    sha256: str
    """Digest of the original's bytes, or of a pack's full text."""
    size_bytes: int | None = None
    document_id: UUID | None = None


_KEYS = any_(bindparam("keys", type_=ARRAY(Text)))

# One statement, so that it sees one snapshot: an upload that becomes a document is either the one or the other.
_REFERENCED = union(
    select(Revision.original_uri).where(Revision.original_uri == _KEYS),
    select(Document.original_uri).where(Document.original_uri == _KEYS),
    select(Upload.blob_key).where(Upload.blob_key == _KEYS),
    select(TextArtifact.full_text_uri).where(TextArtifact.full_text_uri == _KEYS),
    select(LedgerEntry.target).where(LedgerEntry.target == _KEYS, LedgerEntry.done_at.is_(None)),
)

# A missing pack that no document shows is no data loss: garbage collection will delete its row.
_SOME_DOCUMENT_ID = sql_cast(
    select(func.min(sql_cast(Document.id, Text)))
    .where(Document.artifact_text_id == TextArtifact.id)
    .correlate(TextArtifact)
    .scalar_subquery(),
    Uuid,
)
_OWNERS = union_all(
    select(Revision.original_uri, Revision.document_id).where(Revision.original_uri == _KEYS),
    select(TextArtifact.full_text_uri, _SOME_DOCUMENT_ID).where(
        TextArtifact.full_text_uri == _KEYS, func.app_artifact_is_used(TextArtifact.id)
    ),
)


class ObjectReferenceRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def list_originals(self, kb_id: UUID, *, after: UUID, limit: int) -> Sequence[ReferencedObject]:
        """Return the originals of the next `limit` documents after the given one, sorted by key.

        Keys begin with the ids of knowledge base and document, so batches of documents are in the order of keys.
        """
        batch = (
            select(Document.id)
            .where(Document.kb_id == kb_id, Document.id > after)
            .order_by(Document.id)
            .limit(limit)
            .cte("batch")
        )
        query = (
            select(Revision.original_uri, Revision.sha256, Revision.file_size, Revision.document_id)
            .join(batch, batch.c.id == Revision.document_id)
            .order_by(Revision.original_uri.collate("C"))
        )
        return [ReferencedObject(*row) for row in await self._session.execute(query)]

    async def list_packs(self, organization_id: UUID | None, *, after: str, limit: int) -> Sequence[ReferencedObject]:
        """Return text packs of the organization, or with `None` those that all organizations share, sorted by key."""
        key = TextArtifact.full_text_uri.collate("C")
        query = (
            select(TextArtifact.full_text_uri, TextArtifact.full_text_sha256)
            .where(TextArtifact.organization_id.is_not_distinct_from(organization_id), key > after)
            .order_by(key)
            .limit(limit)
        )
        return [ReferencedObject(*row) for row in await self._session.execute(query)]

    async def list_referenced_keys(self, keys: Sequence[str]) -> set[str]:
        """Return the keys that a row, an unfinished upload or an open ledger entry references."""
        return set(await self._session.scalars(_REFERENCED, {"keys": list(keys)}))

    async def list_owners(self, keys: Sequence[str]) -> dict[str, UUID | None]:
        """Return the keys that a document needs, each with one such document."""
        return {row.original_uri: row.document_id for row in await self._session.execute(_OWNERS, {"keys": list(keys)})}
