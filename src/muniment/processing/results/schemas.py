"""Response bodies of results, annotations and the document summary."""

from datetime import datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

from pydantic import BaseModel, Field

from muniment.artifacts.tables import ArtifactDiagram, ArtifactPage, ArtifactParagraph, TextArtifact
from muniment.documents.repository import PassageCount
from muniment.documents.tables import Document, Status
from muniment.processing.readers.contract import Box, ExtractionMethod, FigureKind, ParagraphKind
from muniment.processing.results.hydration import extraction_method
from muniment.processing.results.tables import DocumentDiagram, DocumentPage, DocumentParagraph


class PageProblem(BaseModel):
    page: int
    message: str


class ResultSummary(BaseModel):
    total_pages: int
    total_words: int
    text_extraction_method: str
    pages_by_method: dict[str, int]
    problems: list[PageProblem] = Field(description="Pages that could not be processed, with reasons")


def summarize(artifact: TextArtifact) -> ResultSummary:
    """Summarize an artifact without reading its text."""
    return ResultSummary(
        total_pages=artifact.total_pages,
        total_words=artifact.total_words,
        text_extraction_method=extraction_method(artifact.methods),
        pages_by_method=artifact.methods,
        problems=[PageProblem(**problem) for problem in artifact.problems],
    )


ItemT = TypeVar("ItemT")


StaleT = TypeVar("StaleT")


AnnotationValue = dict[str, Any] | None


BOX_DESCRIPTION = (
    "Left, top, right, bottom in points (1/72 inch) from the top left corner of the page. Null without a layout"
)


class PartAnnotations(BaseModel):
    """Annotations of one position in a document."""

    page_number: int
    annotations: AnnotationValue
    stale_at: datetime | None = Field(description="Time since which the location no longer exists. The note is kept")


class PageAnnotations(PartAnnotations):
    flags: AnnotationValue

    @classmethod
    def from_row(cls, row: DocumentPage) -> "PageAnnotations":
        return PageAnnotations(**page_annotation_fields(row))


class ParagraphAnnotations(PartAnnotations):
    paragraph_index: int = Field(description="Position on its page, from 0. Negative if the paragraph no longer exists")

    @classmethod
    def from_row(cls, row: DocumentParagraph) -> "ParagraphAnnotations":
        return ParagraphAnnotations(
            page_number=row.page_number,
            paragraph_index=row.paragraph_index,
            annotations=row.annotations,
            stale_at=row.stale_at,
        )


class DiagramAnnotations(PartAnnotations):
    key: str

    @classmethod
    def from_row(cls, row: DocumentDiagram) -> "DiagramAnnotations":
        return DiagramAnnotations(**diagram_annotation_fields(row))


class PageMetrics(PageAnnotations):
    method: ExtractionMethod = Field(description="Where the text came from")
    words: int
    characters: int
    confidence: float | None = Field(description="Of OCR, from 0 to 1")
    problem: str | None = Field(description="Why this page could not be processed")


class PageItem(PageMetrics):
    has_annotations: bool = Field(description="On the page itself, a paragraph or a diagram")

    @classmethod
    def from_rows(cls, row: DocumentPage, page: ArtifactPage, *, has_annotations: bool) -> "PageItem":
        return cls(**page_annotation_fields(row), **page_metric_fields(page), has_annotations=has_annotations)


class PageLayout(BaseModel):
    width: float = Field(description="In points (1/72 inch), as the page is displayed")
    height: float
    rotation: int = Field(description="Applied rotation in degrees clockwise")
    words: list[tuple[int, int, float, float, float, float]] = Field(
        description="Each as [start, end, left, top, right, bottom]: characters in `text` and box in points"
    )


class PageRead(PageMetrics):
    text: str
    layout: PageLayout | None

    @classmethod
    def from_rows(cls, row: DocumentPage, page: ArtifactPage, text: str) -> "PageRead":
        layout = page.layout if page.layout and page.layout["width"] is not None else None
        return cls(**page_annotation_fields(row), **page_metric_fields(page), text=text, layout=layout)


class ParagraphRead(ParagraphAnnotations):
    text: str
    kind: ParagraphKind
    start: int = Field(description="Start in the text of its page, in characters")
    end: int
    box: Box | None = Field(description=BOX_DESCRIPTION)

    @classmethod
    def from_rows(cls, paragraph: ArtifactParagraph, page_text: str, annotations: AnnotationValue) -> "ParagraphRead":
        features = paragraph.features or {}
        return cls(
            page_number=paragraph.page_number,
            paragraph_index=paragraph.paragraph_index,
            annotations=annotations,
            stale_at=None,
            text=page_text[features["start"] : features["end"]],
            **{name: features[name] for name in ("kind", "start", "end", "box")},
        )


class DiagramRead(DiagramAnnotations):
    """A diagram. A stale one has only its annotations."""

    kind: FigureKind | None
    box: Box | None = Field(description=BOX_DESCRIPTION)
    width_px: int | None
    height_px: int | None
    caption: str | None

    @classmethod
    def from_rows(cls, row: DocumentDiagram, diagram: ArtifactDiagram | None) -> "DiagramRead":
        meta = diagram.diagram_meta if diagram else {}
        shown = {name: meta.get(name) for name in ("kind", "box", "width_px", "height_px", "caption")}
        return cls(**diagram_annotation_fields(row), **shown)


class AnnotatedList(BaseModel, Generic[ItemT, StaleT]):
    """A page of a list, and the same page of the annotations whose positions no longer exist."""

    items: list[ItemT]
    total: int
    page: int
    limit: int
    stale: list[StaleT]
    stale_total: int


class DocumentSummary(ResultSummary):
    document_id: UUID
    name: str
    status: Status
    media_type: str
    revision: int
    processing_status: str | None
    processing_started_at: datetime | None
    processing_completed_at: datetime | None

    @classmethod
    def from_document(cls, document: Document, summary: ResultSummary, count: PassageCount) -> "DocumentSummary":
        own = set(cls.model_fields) - set(ResultSummary.model_fields) - {"document_id", "processing_status"}
        columns = {name: getattr(document, name) for name in own}
        status = count.derive_processing_status(document.processing_status)
        return cls(**summary.model_dump(), **columns, document_id=document.id, processing_status=status)


def page_annotation_fields(row: DocumentPage) -> dict[str, Any]:
    return {name: getattr(row, name) for name in ("page_number", "annotations", "flags", "stale_at")}


def diagram_annotation_fields(row: DocumentDiagram) -> dict[str, Any]:
    own = {name: getattr(row, name) for name in ("page_number", "annotations", "stale_at")}
    return {**own, "key": row.diagram_key}


def page_metric_fields(page: ArtifactPage) -> dict[str, Any]:
    metrics = page.metrics or {}
    return {name: metrics[name] for name in ("method", "words", "characters", "confidence", "problem")}
