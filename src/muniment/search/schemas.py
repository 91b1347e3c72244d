"""Response bodies of search."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, Field

from muniment.documents.media_types.types import has_page_images
from muniment.documents.tables import DocumentType
from muniment.search.query.repository import FoundPassage
from muniment.search.query.request import SearchMode
from muniment.search.query.service import MatchedBy, SearchHit, SearchResult
from muniment.search.query.within_document import PageMatch

SNIPPET_SPANS_DESCRIPTION = (
    "Start and end of each match, in Unicode characters of the snippet. The snippet itself is plain text, never markup"
)
MODE_DESCRIPTION = (
    "Mode that was used: `text` while search by meaning is unavailable, and where the model knows no language in scope"
)
TEXT_ONLY_DESCRIPTION = (
    "Languages of documents in scope that are searched by keywords alone, because the embedding model does not know "
    "them; `simple` stands for any other language"
)
PAGE_SPANS_DESCRIPTION = "Start and end of each match, in Unicode characters of the text of the page"
BOXES_DESCRIPTION = "Left, top, right, bottom of each matching word, in points from the top left corner of the page"


class HitRead(BaseModel):
    document_id: UUID
    document_name: str
    document_type: DocumentType
    kb_id: UUID
    created_at: datetime = Field(description="When the document was added")
    page: int
    chunk_index: int
    snippet: str
    highlights: list[tuple[int, int]] = Field(description=SNIPPET_SPANS_DESCRIPTION)
    score: float = Field(description="From 0 to 1. For ordering within one response only")
    matched: MatchedBy = Field(description="Found by keywords (`text`), by meaning (`vector`), or by both")
    image_url: str | None = Field(description="Image of the page. Null for file types without page images")

    @classmethod
    def from_hit(cls, hit: SearchHit) -> "HitRead":
        passage = hit.passage
        return HitRead(
            document_id=passage.document_id,
            document_name=passage.document_name,
            document_type=DocumentType(passage.document_type),
            kb_id=passage.kb_id,
            created_at=passage.created_at,
            page=passage.page_number,
            chunk_index=passage.chunk_index,
            snippet=hit.snippet.text,
            highlights=list(hit.snippet.highlights),
            score=round(hit.score, 6),
            matched=hit.matched,
            image_url=_image_url(passage),
        )


class SearchRead(BaseModel):
    items: list[HitRead]
    mode: SearchMode = Field(description=MODE_DESCRIPTION)
    text_only_languages: list[str] = Field(description=TEXT_ONLY_DESCRIPTION)
    took_ms: float
    passages_without_vectors: int = Field(
        description="Passages in scope that only keywords find yet. Zero in mode `text`"
    )

    @classmethod
    def from_result(cls, answer: SearchResult) -> "SearchRead":
        return SearchRead(
            items=[HitRead.from_hit(hit) for hit in answer.hits],
            mode=answer.mode,
            text_only_languages=list(answer.text_only_languages),
            took_ms=answer.took_ms,
            passages_without_vectors=answer.passages_without_vectors,
        )


class UploaderRead(BaseModel):
    id: UUID
    email: str


class UploadersRead(BaseModel):
    items: list[UploaderRead]

    @classmethod
    def of(cls, emails: Mapping[UUID, str]) -> "UploadersRead":
        return UploadersRead(items=[UploaderRead(id=user_id, email=email) for user_id, email in emails.items()])


class SimilarRead(BaseModel):
    items: list[HitRead]


class PageMatchRead(BaseModel):
    page: int
    snippet: str
    highlights: list[tuple[int, int]] = Field(description=SNIPPET_SPANS_DESCRIPTION)
    spans: list[tuple[int, int]] = Field(description=PAGE_SPANS_DESCRIPTION)
    boxes: list[tuple[float, float, float, float]] = Field(description=BOXES_DESCRIPTION)

    @classmethod
    def from_match(cls, match: PageMatch) -> "PageMatchRead":
        return PageMatchRead(
            page=match.page,
            snippet=match.snippet.text,
            highlights=list(match.snippet.highlights),
            spans=list(match.spans),
            boxes=list(match.boxes),
        )


class DocumentSearchRead(BaseModel):
    items: list[PageMatchRead]


def _image_url(passage: FoundPassage) -> str | None:
    if not has_page_images(passage.media_type):
        return None
    document = f"/api/v1/knowledge-bases/{passage.kb_id}/documents/{passage.document_id}"
    return f"{document}/pages/{passage.page_number}/image"
