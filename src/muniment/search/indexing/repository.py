"""Queries of indexing: register and activate variants, find missing indexes of an artifact, insert chunks once."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import and_, bindparam, exists, func, literal, select, text, update
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.documents.tables import Document
from muniment.search.embedding.calibration import ModelCalibration, find_measured
from muniment.search.embedding.port import Embedder
from muniment.search.indexing.chunking import Chunk
from muniment.search.indexing.languages import SIMPLE
from muniment.search.indexing.lexical_form import LexicalForm, LexicalFormRepository
from muniment.search.tables import ArtifactIndex, IndexingVariantRow
from muniment.search.variants import variant_for
from muniment.storage.db.base import now
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work
from muniment.storage.vectors.port import IndexingVariant

BATCH_ROWS = 500


@dataclass(frozen=True)
class NewIndex:
    """The chunks of an artifact under one variant with their terms, without their vectors."""

    artifact_text_id: UUID
    organization_id: UUID | None
    """Organization of the artifact, or `None` if all organizations share it."""
    variant: IndexingVariant
    chunks: Sequence[Chunk]
    lexical_form: LexicalForm


# Rows are passed as one JSON parameter: a few statements, whatever the number of chunks.
_ADD_CHUNKS = text("""
    INSERT INTO artifact_chunks (organization_id, artifact_text_id, fingerprint, model, page_number, chunk_index,
                                 start_char, end_char, text)
    SELECT :organization_id, :artifact_text_id, :fingerprint, :model, page_number, chunk_index, start_char, end_char,
           text
      FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS chunk (
           page_number integer, chunk_index integer, start_char integer, end_char integer, text text)
""")


# `None` is written: `embedded_at` has a default, which is for workers of the previous version.
_ADD_INDEX = (
    upsert(ArtifactIndex).on_conflict_do_nothing().returning(ArtifactIndex).execution_options(render_nulls=True)
)


# The newest documents tell enough. What has no language is not counted: it would make every short text like itself.
_NEWEST_DOCUMENTS = (
    select(Document.artifact_text_id)
    .where(Document.kb_id == bindparam("kb_id"), Document.artifact_text_id.is_not(None))
    .order_by(Document.created_at.desc())
    .limit(200)
    .subquery()
)
_USUAL_LANGUAGE = (
    select(ArtifactIndex.language)
    .join(_NEWEST_DOCUMENTS, _NEWEST_DOCUMENTS.c.artifact_text_id == ArtifactIndex.artifact_text_id)
    .where(ArtifactIndex.language != SIMPLE)
    .group_by(ArtifactIndex.language)
    .order_by(func.count().desc(), ArtifactIndex.language)
    .limit(1)
)


class IndexRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def register_variant(self, variant: IndexingVariant, calibration: ModelCalibration | None = None) -> None:
        """Register a variant once; the first one ever becomes the active one."""
        # Of two concurrent first registrations, the unique index refuses one, which tries again as the second.
        while not await self._insert_variant(variant, calibration):
            known = select(exists().where(IndexingVariantRow.fingerprint == variant.fingerprint))
            if await self._session.scalar(known):
                return

    async def _insert_variant(self, variant: IndexingVariant, calibration: ModelCalibration | None) -> bool:
        columns = ["fingerprint", "model", "dimensions", "is_active", "calibration"]
        is_first = ~exists().where(IndexingVariantRow.is_active).correlate(None)
        measured = literal(calibration.as_json() if calibration else None, JSONB(none_as_null=True))
        row = select(
            literal(variant.fingerprint), literal(variant.model), literal(variant.dimensions), is_first, measured
        )
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

    async def find_usual_language(self, knowledge_base_id: UUID) -> str | None:
        """Return the text search configuration of most documents of a knowledge base, or `None` if none has one."""
        return await self._session.scalar(_USUAL_LANGUAGE, {"kb_id": knowledge_base_id})

    async def find(self, artifact_text_id: UUID, fingerprint: str) -> ArtifactIndex | None:
        return await self._session.scalar(
            select(ArtifactIndex).filter_by(artifact_text_id=artifact_text_id, fingerprint=fingerprint)
        )

    async def add_once(self, new: NewIndex) -> tuple[ArtifactIndex, bool]:
        """Store the index, or find the one stored in the meantime. Return it and whether it is the new one.

        Its vectors are missing; the caller queues their computation in the same transaction.
        """
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
        }
        language = new.lexical_form.language
        vectors = {"language": language, "vectors_in_chunks": False, "embedded_at": None if new.chunks else now()}
        added = await self._session.scalar(_ADD_INDEX, {**key, **vectors, "total_chunks": len(new.chunks)})
        if added is None:
            return None
        for start in range(0, len(new.chunks), BATCH_ROWS):
            batch = enumerate(new.chunks[start : start + BATCH_ROWS], start)
            rows = json.dumps([_chunk_as_json(index, chunk) for index, chunk in batch], ensure_ascii=False)
            await self._session.execute(_ADD_CHUNKS, {**key, "model": new.variant.model, "rows": rows})
        await LexicalFormRepository(self._session).add(key, new.lexical_form)
        return added


def _chunk_as_json(index: int, chunk: Chunk) -> Mapping[str, Any]:
    return {
        "page_number": chunk.page_number,
        "chunk_index": index,
        "start_char": chunk.start,
        "end_char": chunk.end,
        "text": chunk.text.replace("\0", " "),  # PostgreSQL cannot store it; positions stay the same
    }


_VARIANTS_OF_ARTIFACT = select(
    IndexingVariantRow.fingerprint,
    IndexingVariantRow.is_active,
    ArtifactIndex.artifact_text_id.is_not(None).label("has_text"),
    ArtifactIndex.embedded_at.is_not(None).label("has_vectors"),
).outerjoin(
    ArtifactIndex,
    and_(
        ArtifactIndex.fingerprint == IndexingVariantRow.fingerprint,
        ArtifactIndex.artifact_text_id == bindparam("text_id"),
    ),
)


@dataclass(frozen=True)
class IndexingProgress:
    """How far an artifact is indexed for the models that are required now."""

    missing: Mapping[str, Embedder]
    """Models for which its text is not stored yet, by fingerprint."""
    is_embedded: bool
    """Whether all its passages have vectors of all these models."""


@dataclass(frozen=True)
class InstalledModels:
    """Models that artifacts are indexed for: the configured one and, until the switch, the active one."""

    configured: Embedder
    previous: tuple[Embedder, ...] = ()
    """Other installed models; each is used while its variant is the active one."""

    def find(self, fingerprint: str) -> Embedder | None:
        """Return the installed model of this variant."""
        installed = (self.configured, *self.previous)
        return next((embedder for embedder in installed if variant_for(embedder).fingerprint == fingerprint), None)

    async def register(self, work: Work[Service]) -> None:
        """Register the configured variant before the first index of it is stored."""
        variant, calibration = variant_for(self.configured), find_measured(self.configured)
        await IndexRepository(work.session).register_variant(variant, calibration)

    async def find_progress(self, work: Work[Service], artifact_id: UUID) -> IndexingProgress:
        """Return how far this artifact is indexed."""
        rows = await work.session.execute(_VARIANTS_OF_ARTIFACT, {"text_id": artifact_id})
        registered = {row.fingerprint: row for row in rows}
        required = {variant_for(self.configured).fingerprint: self.configured}
        for embedder in self.previous:
            fingerprint = variant_for(embedder).fingerprint
            if fingerprint in registered and registered[fingerprint].is_active:
                required[fingerprint] = embedder
        stored = {name: registered[name] for name in required if name in registered and registered[name].has_text}
        missing = {name: embedder for name, embedder in required.items() if name not in stored}
        return IndexingProgress(missing, not missing and all(row.has_vectors for row in stored.values()))
