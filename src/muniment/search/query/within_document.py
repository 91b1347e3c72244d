"""Search inside one document: which pages match, and where on them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import and_, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.artifacts.access_log import ArtifactContent, log_artifact_read
from muniment.artifacts.tables import KEY_COLUMNS, ArtifactPage, TextArtifact
from muniment.documents.repository import DocumentRepository
from muniment.documents.tables import Document
from muniment.search.query.lexical.terms import LanguageQuery
from muniment.search.query.parser import ParsedQuery, parse_query
from muniment.search.query.repository import SearchRepository
from muniment.search.query.snippets import (
    Snippet,
    Span,
    make_snippet,
    merge_spans,
    substring_spans,
    term_spans,
)
from muniment.storage.db.principal import Principal, Service
from muniment.storage.db.work import Database
from muniment.storage.vectors.port import IndexingVariant

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class PageMatch:
    page: int
    snippet: Snippet
    spans: Sequence[Span]
    """Start and end of each match, in characters of the page's text."""
    boxes: Sequence[Box]
    """Boxes of the matching words. Empty if the page has no layout."""


@dataclass(frozen=True)
class PassageMatch:
    """A matching passage and its artifact."""

    artifact_id: UUID
    page_number: int
    start: int
    end: int
    text: str
    language: str


# The artifact is read in the same statement: a reread may replace it at any moment, with other positions of the words.
_FIND = text(f"""
    SELECT d.artifact_text_id, p.page_number, p.start_char, p.end_char, p.text, CAST(p.language AS text)
      FROM passages p JOIN {Document.__table__} d ON d.id = p.document_id
      JOIN unnest(CAST(:languages AS text[]), CAST(CAST(:strict AS text[]) AS tsquery[]),
                  CAST(CAST(:excluded AS text[]) AS tsquery[])) AS l (language, strict, excluded)
           ON l.language = CAST(p.language AS text)
     WHERE p.document_id = :document_id AND p.fingerprint = :fingerprint
       AND (p.tsv @@ l.strict OR p.text ILIKE ALL (CAST(:patterns AS text[])))
       AND (l.excluded IS NULL OR NOT p.tsv @@ l.excluded)
     ORDER BY p.chunk_index
""")


class DocumentSearchRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def list_matches(
        self, model: IndexingVariant, document_id: UUID, query: ParsedQuery, queries: Sequence[LanguageQuery]
    ) -> Sequence[PassageMatch]:
        """Return passages of the document that match the query or contain each of its terms within words."""
        parameters = {
            "languages": [query.language for query in queries],
            "strict": [query.all_terms for query in queries],
            "excluded": [query.excluded for query in queries],
            "patterns": [f"%{_escape_like(term)}%" for term in query.terms],
        }
        of_document = {"document_id": document_id, "fingerprint": model.fingerprint}
        return [PassageMatch(*row) for row in await self._session.execute(_FIND, {**parameters, **of_document})]

    async def list_layouts(self, artifact_id: UUID, page_numbers: Sequence[int]) -> Mapping[int, Mapping[str, Any]]:
        """Return layouts by page number. For the service login only, after the caller's access was checked."""
        same_text = and_(*(getattr(ArtifactPage, name) == getattr(TextArtifact, name) for name in KEY_COLUMNS))
        wanted = (
            select(ArtifactPage.page_number, ArtifactPage.layout)
            .join(TextArtifact, onclause=same_text)
            .where(
                TextArtifact.id == artifact_id,
                ArtifactPage.page_number.in_(page_numbers),
                ArtifactPage.layout.is_not(None),
            )
        )
        return {number: layout for number, layout in await self._session.execute(wanted) if layout}


@dataclass(frozen=True)
class DocumentSearch:
    """Searches inside single documents on behalf of one user."""

    database: Database
    principal: Principal

    async def search(self, kb_id: UUID, document_id: UUID, query_text: str, *, limit: int) -> Sequence[PageMatch]:
        """Return one match per page, in page order; none for a document that is not completed."""
        query = parse_query(query_text)
        found, terms = await self._find_passages(kb_id, document_id, query)
        pages: dict[int, list[PassageMatch]] = {}
        for passage in found:
            pages.setdefault(passage.page_number, []).append(passage)
        shown = dict(list(pages.items())[:limit])
        layouts = await self._load_layouts(document_id, found[0].artifact_id, list(shown)) if shown else {}
        return [
            _page_match(
                number,
                [(one, _match_spans(one, query, terms[one.language])) for one in passages],
                layouts,
            )
            for number, passages in shown.items()
        ]

    async def _find_passages(
        self, kb_id: UUID, document_id: UUID, query: ParsedQuery
    ) -> tuple[Sequence[PassageMatch], Mapping[str, set[str]]]:
        async with self.database.work(self.principal) as work:
            await DocumentRepository(work.session).get(kb_id, document_id)
            repository = SearchRepository(work.session)
            model = await repository.find_active_model()
            if model is None or not query.plain_text:
                return [], {}
            queries = await repository.build_language_queries(model, [kb_id], query)
            found = await DocumentSearchRepository(work.session).list_matches(model, document_id, query, queries)
            return found, {of_language.language: of_language.terms for of_language in queries}

    async def _load_layouts(
        self, document_id: UUID, artifact_id: UUID, page_numbers: Sequence[int]
    ) -> Mapping[int, Mapping[str, Any]]:
        log_artifact_read(self.principal, document_id, ArtifactContent.SEARCH)
        async with self.database.service_work(Service(self.principal.organization_id)) as work:
            return await DocumentSearchRepository(work.session).list_layouts(artifact_id, page_numbers)


def _match_spans(passage: PassageMatch, query: ParsedQuery, terms: set[str]) -> list[Span]:
    """Return spans in the passage: words that share a term with the query, and literal occurrences of its terms."""
    words = term_spans(passage.text, passage.language, terms)
    return merge_spans([*words, *substring_spans(passage.text, query.terms)])


def _page_match(
    number: int, passages: Sequence[tuple[PassageMatch, list[Span]]], layouts: Mapping[int, Mapping[str, Any]]
) -> PageMatch:
    best, spans = max(passages, key=lambda passage: len(passage[1]))
    on_page = merge_spans(
        (within.start + start, within.start + end)
        for within, found in passages
        if len(within.text) == within.end - within.start  # otherwise its positions differ from those of the page
        for start, end in found
    )
    return PageMatch(number, make_snippet(best.text, spans), on_page, _match_boxes(layouts.get(number, {}), on_page))


def _match_boxes(layout: Mapping[str, Any], spans: Sequence[Span]) -> Sequence[Box]:
    words = layout.get("words", ())
    return [
        (left, top, right, bottom)
        for start, end, left, top, right, bottom in words
        if any(start < last and end > first for first, last in spans)
    ]


def _escape_like(term: str) -> str:
    """Escape a term for a literal match with ILIKE."""
    return term.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
