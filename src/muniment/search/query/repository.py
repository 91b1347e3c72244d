"""Queries of search other than lexical ranking: scope, confirmation of candidates, passages.

All of them read views that have only the completed documents the caller may see.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.accounts.repository import UserRepository
from muniment.documents.tables import Document, Status
from muniment.knowledge_bases.repository import KnowledgeBaseNotFound, KnowledgeBaseRepository
from muniment.search.query.filters import NO_FILTERS, SearchFilters
from muniment.search.query.lexical.terms import LanguageQuery, make_language_query
from muniment.search.query.parser import ParsedQuery
from muniment.search.query.request import PassageKey, SearchScope
from muniment.storage.vectors.port import Candidate, IndexingVariant

MAX_UPLOADERS = 500


@dataclass(frozen=True)
class FoundPassage:
    document_id: UUID
    document_name: str
    kb_id: UUID
    document_type: str
    media_type: str
    page_number: int
    chunk_index: int
    text: str
    language: str
    created_at: datetime

    @property
    def key(self) -> PassageKey:
        return self.document_id, self.chunk_index


_ACTIVE_MODEL = text("SELECT model, dimensions, fingerprint FROM indexing_variants WHERE is_active")


_CALIBRATION = text("SELECT calibration FROM indexing_variants WHERE fingerprint = :fingerprint")


_LANGUAGES = """
    SELECT language, sum(total_chunks) AS chunk_count,
           coalesce(sum(total_chunks) FILTER (WHERE embedded_at IS NULL), 0) AS chunks_without_vectors,
           coalesce(sum(total_chunks) FILTER (WHERE total_length IS NULL), 0) AS old_chunks,
           coalesce(sum(total_length), 0) AS total_length
      FROM lexical_documents
     WHERE knowledge_base_id = ANY (CAST(:kb_ids AS uuid[])) AND fingerprint = :fingerprint
       AND (CAST(:document_types AS text[]) IS NULL OR document_type = ANY (CAST(:document_types AS text[]))) {filters}
     GROUP BY language ORDER BY language
"""


# The conditions with ANY repeat what the join says: only they reach the indexes through the view.
_LOAD_PASSAGES = """
    SELECT p.document_id, p.document_name, p.knowledge_base_id, p.document_type, p.media_type, p.page_number,
           p.chunk_index, p.text, p.language::text, d.created_at
      FROM unnest(CAST(:ids AS uuid[]), CAST(:indexes AS integer[])) AS chosen (document_id, chunk_index)
      JOIN passages p ON p.document_id = chosen.document_id AND p.chunk_index = chosen.chunk_index
      JOIN {documents} d ON d.id = p.document_id
     WHERE p.fingerprint = :fingerprint AND p.document_id = ANY (CAST(:ids AS uuid[]))
       AND p.chunk_index = ANY (CAST(:indexes AS integer[]))
"""
LOAD_PASSAGES = text(_LOAD_PASSAGES.format(documents=Document.__table__))


_CENTROID = text("""
    SELECT CAST(avg(embedding) AS text) FROM passage_vectors
     WHERE document_id = :document_id AND fingerprint = :fingerprint
""")


class SearchRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def list_kb_ids(self, kb_ids: Sequence[UUID]) -> Sequence[UUID]:
        """Return these knowledge bases, or all that the caller may see; raise `KnowledgeBaseNotFound` for any other."""
        knowledge_bases = KnowledgeBaseRepository(self._session)
        if not kb_ids:
            return await knowledge_bases.list_ids()
        found = await knowledge_bases.list_existing(kb_ids)
        if len(found) < len(set(kb_ids)):
            raise KnowledgeBaseNotFound
        return found

    async def find_active_model(self) -> IndexingVariant | None:
        """Return the active variant, or `None` before anything was indexed."""
        row = (await self._session.execute(_ACTIVE_MODEL)).mappings().one_or_none()
        return IndexingVariant(**row) if row else None

    async def find_calibration(self, model: IndexingVariant) -> Mapping[str, Any] | None:
        """Return the stored calibration of the variant, or `None` before it is measured."""
        stored: Mapping[str, Any] | None = await self._session.scalar(_CALIBRATION, {"fingerprint": model.fingerprint})
        return stored

    async def build_language_queries(
        self,
        model: IndexingVariant,
        kb_ids: Sequence[UUID],
        query: ParsedQuery,
        filters: SearchFilters = NO_FILTERS,
        document_types: Sequence[str] = (),
    ) -> Sequence[LanguageQuery]:
        """Return one query per language in which documents of these knowledge bases are written."""
        statement = text(_LANGUAGES.format(filters=filters.and_condition("document_id")))
        of_scope = {"kb_ids": list(kb_ids), "fingerprint": model.fingerprint, **filters.parameters}
        rows = await self._session.execute(statement, {**of_scope, "document_types": list(document_types) or None})
        counts = {language: map(int, numbers) for language, *numbers in rows}
        return [make_language_query(query, language, *numbers) for language, numbers in counts.items()]

    async def confirm(self, scope: SearchScope, candidates: Sequence[Candidate]) -> Sequence[PassageKey]:
        """Return the candidates that the caller may see now and that the query allows, in their order."""
        proposed = {
            "ids": [candidate.document_id for candidate in candidates],
            "indexes": [candidate.chunk_index for candidate in candidates],
            "epochs": [candidate.epoch for candidate in candidates],
        }
        has_copies = any(candidate.epoch is not None for candidate in candidates)
        is_restricted = any(query.phrases or query.excluded for query in scope.queries)
        statement = _CONFIRM.format(
            restricted=_RESTRICTED if is_restricted else "",
            filters=scope.filters.and_condition(),
            live=_CURRENT_EPOCH if has_copies else "",
        )
        rows = await self._session.execute(text(statement), {**scope.parameters, **proposed})
        return [(document_id, chunk_index) for document_id, chunk_index in rows]

    async def load_passages(
        self, model: IndexingVariant, keys: Sequence[PassageKey]
    ) -> Mapping[PassageKey, FoundPassage]:
        """Load passages by key; omit those the caller may no longer see."""
        chosen = {"ids": [key[0] for key in keys], "indexes": [key[1] for key in keys]}
        rows = await self._session.execute(LOAD_PASSAGES, {**chosen, "fingerprint": model.fingerprint})
        found = [FoundPassage(*row) for row in rows]
        return {passage.key: passage for passage in found}

    async def list_uploaders(self) -> Mapping[UUID, str]:
        """Return who uploaded the completed documents that the caller may see, sorted by their email addresses."""
        uploaders = select(Document.uploaded_by).where(Document.status == Status.COMPLETED).distinct()
        user_ids = set(await self._session.scalars(uploaders.limit(MAX_UPLOADERS)))
        emails = await UserRepository(self._session).emails_of(user_ids)
        return dict(sorted(emails.items(), key=lambda item: item[1].casefold()))

    async def find_centroid(self, model: IndexingVariant, document_id: UUID) -> Sequence[float] | None:
        """Return the mean vector of a document's passages, or `None` if it has none."""
        found = await self._session.scalar(_CENTROID, {"document_id": document_id, "fingerprint": model.fingerprint})
        return [float(value) for value in found.strip("[]").split(",")] if found else None


_CONFIRM = """
    SELECT p.document_id, p.chunk_index
      FROM unnest(CAST(:ids AS uuid[]), CAST(:indexes AS integer[]), CAST(:epochs AS integer[])) WITH ORDINALITY
           AS proposed (document_id, chunk_index, epoch, place)
      JOIN passages p ON p.document_id = proposed.document_id AND p.chunk_index = proposed.chunk_index {live}
     WHERE p.knowledge_base_id = ANY (CAST(:kb_ids AS uuid[])) AND p.fingerprint = :fingerprint
       AND (CAST(:document_types AS text[]) IS NULL OR p.document_type = ANY (CAST(:document_types AS text[])))
       {restricted} {filters} AND p.document_id = ANY (CAST(:ids AS uuid[]))
       AND p.chunk_index = ANY (CAST(:indexes AS integer[])) ORDER BY place
"""


_RESTRICTED = """
    AND NOT EXISTS (
        SELECT FROM unnest(CAST(:languages AS text[]), CAST(CAST(:phrases AS text[]) AS tsquery[]),
                           CAST(CAST(:excluded AS text[]) AS tsquery[])) AS l (language, phrases, excluded)
         WHERE l.language = CAST(p.language AS text) AND (NOT p.tsv @@ l.phrases OR p.tsv @@ l.excluded))
"""


_CURRENT_EPOCH = f"JOIN {Document.__table__} d ON d.id = p.document_id AND d.index_epoch = proposed.epoch"
