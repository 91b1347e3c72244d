"""Queries of indexing: register and activate variants, find missing indexes of an artifact, insert chunks once."""

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import bindparam, exists, literal, select, text, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.search.embedding.port import Embedder
from muniment.search.indexing.chunking import Chunk
from muniment.search.tables import ArtifactIndex, IndexingVariantRow
from muniment.search.variants import variant_for
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work
from muniment.storage.vectors.port import IndexingVariant

BATCH_ROWS = 500


@dataclass(frozen=True, slots=True)
class EmbeddedChunk:
    chunk: Chunk
    vector: bytes
    """Half precision, as PostgreSQL stores it; a list of floats takes forty times the memory."""


def pack_half_precision(vector: Sequence[float]) -> bytes:
    return struct.pack(f"<{len(vector)}e", *vector)


def _vector_literal(vector: bytes) -> str:
    # Five digits are enough to distinguish all numbers of half precision.
    return "[" + ",".join(f"{value:.5g}" for (value,) in struct.iter_unpack("<e", vector)) + "]"


@dataclass(frozen=True)
class NewIndex:
    """A complete index of an artifact that is to be stored."""

    artifact_text_id: UUID
    organization_id: UUID | None
    """Organization of the artifact, or `None` if all organizations share it."""
    variant: IndexingVariant
    language: str
    chunks: Sequence[EmbeddedChunk]


# Rows are passed as one JSON parameter: a few statements, whatever the number of chunks.
_ADD_CHUNKS = text("""
    INSERT INTO artifact_chunks (organization_id, artifact_text_id, fingerprint, model, page_number, chunk_index,
                                 start_char, end_char, text, language, tsv, embedding)
    SELECT :organization_id, :artifact_text_id, :fingerprint, :model, page_number, chunk_index, start_char, end_char,
           text, CAST(:language AS regconfig), to_tsvector(CAST(:language AS regconfig), text),
           CAST(embedding AS halfvec)
      FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS chunk (
           page_number integer, chunk_index integer, start_char integer, end_char integer, text text, embedding text)
""")


_ADD_INDEX = upsert(ArtifactIndex).on_conflict_do_nothing().returning(ArtifactIndex)


class IndexRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def register_variant(self, variant: IndexingVariant) -> None:
        """Register a variant once; the first one ever becomes the active one."""
        # Of two concurrent first registrations, the unique index refuses one, which tries again as the second.
        while not await self._insert_variant(variant):
            known = select(exists().where(IndexingVariantRow.fingerprint == variant.fingerprint))
            if await self._session.scalar(known):
                return

    async def _insert_variant(self, variant: IndexingVariant) -> bool:
        columns = ["fingerprint", "model", "dimensions", "is_active"]
        is_first = ~exists().where(IndexingVariantRow.is_active).correlate(None)
        row = select(literal(variant.fingerprint), literal(variant.model), literal(variant.dimensions), is_first)
        statement = upsert(IndexingVariantRow).from_select(columns, row, include_defaults=False)
        added = await self._session.scalar(statement.on_conflict_do_nothing().returning(IndexingVariantRow.fingerprint))
        return added is not None

    async def find_active_variant(self) -> IndexingVariant | None:
        """Return the variant that answers queries, or `None` before anything was indexed."""
        columns = (IndexingVariantRow.fingerprint, IndexingVariantRow.model, IndexingVariantRow.dimensions)
        found = await self._session.execute(select(*columns).where(IndexingVariantRow.is_active))
        row = found.mappings().one_or_none()
        return IndexingVariant(**row) if row else None

    async def activate(self, fingerprint: str) -> None:
        """Activate this variant for all queries of the installation."""
        others = update(IndexingVariantRow).where(
            IndexingVariantRow.is_active, IndexingVariantRow.fingerprint != fingerprint
        )
        await self._session.execute(others.values(is_active=False))
        this = update(IndexingVariantRow).where(IndexingVariantRow.fingerprint == fingerprint)
        await self._session.execute(this.values(is_active=True))

    async def find(self, artifact_text_id: UUID, fingerprint: str) -> ArtifactIndex | None:
        return await self._session.scalar(
            select(ArtifactIndex).filter_by(artifact_text_id=artifact_text_id, fingerprint=fingerprint)
        )

    async def add_once(self, new: NewIndex) -> tuple[ArtifactIndex, bool]:
        """Store the index, or find the one stored in the meantime. Return it and whether it is the new one."""
        while (added := await self._insert(new)) is None:
            if existing := await self.find(new.artifact_text_id, new.variant.fingerprint):
                return existing, False
            # The other index was deleted between our two statements.
        return added, True

    async def _insert(self, new: NewIndex) -> ArtifactIndex | None:
        key = {
            "organization_id": new.organization_id,
            "artifact_text_id": new.artifact_text_id,
            "fingerprint": new.variant.fingerprint,
            "language": new.language,
        }
        added = await self._session.scalar(_ADD_INDEX, {**key, "total_chunks": len(new.chunks)})
        if added is None:
            return None
        for start in range(0, len(new.chunks), BATCH_ROWS):
            batch = enumerate(new.chunks[start : start + BATCH_ROWS], start)
            rows = json.dumps([_chunk_as_json(index, item) for index, item in batch], ensure_ascii=False)
            await self._session.execute(_ADD_CHUNKS, {**key, "model": new.variant.model, "rows": rows})
        return added


def _chunk_as_json(index: int, item: EmbeddedChunk) -> Mapping[str, Any]:
    chunk = item.chunk
    return {
        "page_number": chunk.page_number,
        "chunk_index": index,
        "start_char": chunk.start,
        "end_char": chunk.end,
        "text": chunk.text.replace("\0", " "),  # PostgreSQL cannot store it; positions stay the same
        "embedding": _vector_literal(item.vector),
    }


_VARIANTS_OF_ARTIFACT = select(
    IndexingVariantRow.fingerprint,
    IndexingVariantRow.is_active,
    exists()
    .where(
        ArtifactIndex.fingerprint == IndexingVariantRow.fingerprint,
        ArtifactIndex.artifact_text_id == bindparam("text_id"),
    )
    .label("is_there"),
)


@dataclass(frozen=True)
class InstalledModels:
    """Models that artifacts are indexed for: the configured one and, until the switch, the active one."""

    configured: Embedder
    previous: tuple[Embedder, ...] = ()
    """Other installed models; each is used while its variant is the active one."""

    async def register(self, work: Work[Service]) -> None:
        """Register the configured variant before the first index of it is stored."""
        await IndexRepository(work.session).register_variant(variant_for(self.configured))

    async def list_missing(self, work: Work[Service], artifact_id: UUID) -> Mapping[str, Embedder]:
        """Return the models for which this artifact has no index yet, by fingerprint."""
        rows = await work.session.execute(_VARIANTS_OF_ARTIFACT, {"text_id": artifact_id})
        registered = {row.fingerprint: row for row in rows}
        required = {variant_for(self.configured).fingerprint: self.configured}
        for embedder in self.previous:
            fingerprint = variant_for(embedder).fingerprint
            if fingerprint in registered and registered[fingerprint].is_active:
                required[fingerprint] = embedder
        return {
            fingerprint: embedder
            for fingerprint, embedder in required.items()
            if fingerprint not in registered or not registered[fingerprint].is_there
        }
