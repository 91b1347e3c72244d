"""Queries of the vectors of passages: list missing ones, insert a batch, complete an index, move those of the old form.

Vectors of an index are stored from the first chunk on, without gaps: each batch continues after the last one.
"""

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.search.tables import ArtifactIndex

# A purge deletes the index: the lock makes it wait for this transaction, or this statement find nothing.
_LOCK_INDEX = text("""
    SELECT total_chunks FROM artifact_indexes
     WHERE artifact_text_id = :artifact_text_id AND fingerprint = :fingerprint AND NOT vectors_in_chunks
       FOR KEY SHARE
""")
_COUNT = text("""
    SELECT coalesce(max(chunk_index) + 1, 0) FROM artifact_vectors
     WHERE artifact_text_id = :artifact_text_id AND fingerprint = :fingerprint
""")
_NEXT_PASSAGES = text("""
    SELECT chunk_index, text FROM artifact_chunks
     WHERE artifact_text_id = :artifact_text_id AND fingerprint = :fingerprint AND chunk_index >= :first_chunk
     ORDER BY chunk_index LIMIT :limit
""")
_ADD = text("""
    INSERT INTO artifact_vectors (artifact_text_id, fingerprint, chunk_index, organization_id, model, embedding)
    SELECT c.artifact_text_id, c.fingerprint, c.chunk_index, c.organization_id, c.model, CAST(new.embedding AS halfvec)
      FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS new (chunk_index integer, embedding text)
      JOIN artifact_chunks c ON c.chunk_index = new.chunk_index
     WHERE c.artifact_text_id = :artifact_text_id AND c.fingerprint = :fingerprint
     ORDER BY c.chunk_index
    ON CONFLICT DO NOTHING
""")
_COMPLETE = text("""
    UPDATE artifact_indexes SET embedded_at = now(), embedding_error = NULL
     WHERE artifact_text_id = :artifact_text_id AND fingerprint = :fingerprint AND embedded_at IS NULL
    RETURNING artifact_text_id
""")
_SET_ERROR = text("""
    UPDATE artifact_indexes SET embedding_error = :error
     WHERE artifact_text_id = :artifact_text_id AND fingerprint = :fingerprint AND embedded_at IS NULL
       AND embedding_error IS DISTINCT FROM :error
""")

_NEXT_OLD_FORM = text("""
    SELECT artifact_text_id, fingerprint, total_chunks FROM artifact_indexes
     WHERE vectors_in_chunks ORDER BY total_chunks, artifact_text_id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED
""")
_MOVE = text("""
    INSERT INTO artifact_vectors (artifact_text_id, fingerprint, chunk_index, organization_id, model, embedding)
    SELECT artifact_text_id, fingerprint, chunk_index, organization_id, model, embedding FROM artifact_chunks
     WHERE artifact_text_id = :artifact_text_id AND fingerprint = :fingerprint AND chunk_index >= :first_chunk
     ORDER BY chunk_index LIMIT :limit
    ON CONFLICT DO NOTHING
""")
_END_OLD_FORM = text("""
    UPDATE artifact_indexes SET vectors_in_chunks = false
     WHERE artifact_text_id = :artifact_text_id AND fingerprint = :fingerprint
""")


def format_half_precision(vector: Sequence[float]) -> str:
    """Format a vector in half precision as pgvector reads it."""
    # Five digits are enough to distinguish all numbers of half precision.
    return "[" + ",".join(f"{value:.5g}" for value in vector) + "]"


def unpack_half_precision(vector: bytes) -> Sequence[float]:
    """Return the numbers of a vector that was packed in half precision."""
    return [value for (value,) in struct.iter_unpack("<e", vector)]


@dataclass(frozen=True)
class MissingVector:
    """A passage that has no vector yet."""

    chunk_index: int
    text: str


@dataclass(frozen=True)
class VectorRepository:
    """Vectors of one artifact under one variant."""

    session: AsyncSession
    artifact_text_id: UUID
    fingerprint: str

    async def find_index(self) -> ArtifactIndex | None:
        """Return the index that the vectors belong to, or `None` if it was deleted."""
        return await self.session.scalar(select(ArtifactIndex).filter_by(**self._key))

    async def count(self) -> int:
        """Return how many passages have vectors: those before this chunk."""
        return int(await self.session.scalar(_COUNT, self._key) or 0)

    async def list_missing(self, *, limit: int) -> Sequence[MissingVector]:
        """Return the next passages without vectors."""
        values = {**self._key, "first_chunk": await self.count(), "limit": limit}
        return [MissingVector(index, passage) for index, passage in await self.session.execute(_NEXT_PASSAGES, values)]

    async def add(self, first_chunk: int, vectors: Sequence[Sequence[float]]) -> bool:
        """Store vectors of consecutive chunks, and complete the index with the last one.

        Return `False` if the index was deleted meanwhile. Vectors that are stored already stay as they are.
        """
        total = await self.session.scalar(_LOCK_INDEX, self._key)
        if total is None:
            return False
        rows = [
            {"chunk_index": index, "embedding": format_half_precision(vector)}
            for index, vector in enumerate(vectors, first_chunk)
        ]
        await self.session.execute(_ADD, {**self._key, "rows": json.dumps(rows)})
        if first_chunk + len(vectors) >= total:
            await self.complete()
        return True

    async def complete(self) -> None:
        """Mark the index as complete, tell who watches its documents, and resume the runs that wait for it."""
        if await self.session.scalar(_COMPLETE, self._key) is not None:
            await self.session.execute(select(func.announce_artifact(self.artifact_text_id)))
            await self.session.execute(select(func.resume_waiting_runs(self.artifact_text_id)))

    async def set_error(self, error: str | None) -> None:
        """Record why vectors are late, or that they are no longer."""
        await self.session.execute(_SET_ERROR, {**self._key, "error": error})

    @property
    def _key(self) -> dict[str, Any]:
        return {"artifact_text_id": self.artifact_text_id, "fingerprint": self.fingerprint}


async def move_batch(session: AsyncSession, *, limit: int) -> int | None:
    """Copy the next vectors of an index of the old form, and end the old form with the last one.

    Return how many were copied, or `None` if no index has the old form. Until all its vectors are copied, the old form
    answers queries. The index stays locked, so that a purge waits for the end of the batch.
    """
    row = (await session.execute(_NEXT_OLD_FORM)).one_or_none()
    if row is None:
        return None
    index = VectorRepository(session, row.artifact_text_id, row.fingerprint)
    key = {"artifact_text_id": row.artifact_text_id, "fingerprint": row.fingerprint}
    total, first_chunk = int(row.total_chunks), await index.count()
    await session.execute(_MOVE, {**key, "first_chunk": first_chunk, "limit": limit})
    if first_chunk + limit >= total:
        await session.execute(_END_OLD_FORM, key)
    return min(limit, total - first_chunk)
