"""Query which objects the rows reference: originals by revisions, text packs by artifacts."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import bindparam, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.types import Text


@dataclass(frozen=True)
class ReferencedObject:
    """An object as a row names it."""

    key: str
    sha256: str
    """Of an original's bytes; of a pack's whole text."""
    size_bytes: int | None = None
    document_id: UUID | None = None


# In the order of their keys: they begin with the ids of knowledge base and document, and an id sorts as it is written.
_ORIGINALS = text("""
    WITH next AS (
        SELECT id FROM documents WHERE knowledge_base_id = :kb_id AND id > :after ORDER BY id LIMIT :limit
    )
    SELECT r.original_uri, r.sha256, r.file_size, r.document_id
      FROM document_revisions r JOIN next ON next.id = r.document_id
     ORDER BY r.original_uri COLLATE "C"
""")
_PACKS = text("""
    SELECT full_text_uri, full_text_sha256 FROM artifacts_full_text
     WHERE organization_id IS NOT DISTINCT FROM :organization_id AND full_text_uri COLLATE "C" > :after
     ORDER BY full_text_uri COLLATE "C" LIMIT :limit
""")
# One statement, so that it sees one moment: an upload that becomes a document is the one or the other.
_REFERENCED = text("""
    SELECT original_uri FROM document_revisions WHERE original_uri = ANY(:keys)
    UNION SELECT original_uri FROM documents WHERE original_uri = ANY(:keys)
    UNION SELECT blob_key FROM uploads WHERE blob_key = ANY(:keys)
    UNION SELECT full_text_uri FROM artifacts_full_text WHERE full_text_uri = ANY(:keys)
    UNION SELECT target FROM deletions WHERE target = ANY(:keys) AND done_at IS NULL
""").bindparams(bindparam("keys", type_=ARRAY(Text)))
# A pack that nothing shows is no loss: the garbage collection takes its row away.
_OWNERS = text("""
    SELECT r.original_uri AS key, r.document_id FROM document_revisions r WHERE r.original_uri = ANY(:keys)
    UNION ALL
    SELECT t.full_text_uri, (SELECT min(d.id::text)::uuid FROM documents d WHERE d.artifact_text_id = t.id)
      FROM artifacts_full_text t WHERE t.full_text_uri = ANY(:keys) AND app_artifact_is_used(t.id)
""").bindparams(bindparam("keys", type_=ARRAY(Text)))


class ObjectReferenceRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def list_originals(self, kb_id: UUID, *, after: UUID, limit: int) -> Sequence[ReferencedObject]:
        """Those of the next so many documents behind `after`, sorted by key."""
        rows = await self._session.execute(_ORIGINALS, {"kb_id": kb_id, "after": after, "limit": limit})
        return [ReferencedObject(key, sha256, size_bytes, document_id) for key, sha256, size_bytes, document_id in rows]

    async def list_packs(self, organization_id: UUID | None, *, after: str, limit: int) -> Sequence[ReferencedObject]:
        """Of this organization, or of those that all share, sorted by key."""
        values = {"organization_id": organization_id, "after": after, "limit": limit}
        return [ReferencedObject(key, sha256) for key, sha256 in await self._session.execute(_PACKS, values)]

    async def list_referenced_keys(self, keys: Sequence[str]) -> set[str]:
        """Those of the keys that belong to somebody: a row, an upload on its way, a line of the ledger."""
        return set(await self._session.scalars(_REFERENCED, {"keys": list(keys)}))

    async def list_owners(self, keys: Sequence[str]) -> dict[str, UUID | None]:
        """Those of the keys that a document needs, with the one that we would tell about."""
        rows = await self._session.execute(_OWNERS, {"keys": list(keys)})
        return {row.key: row.document_id for row in rows}
