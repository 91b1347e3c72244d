"""Collect extracted pages into a text pack and rows. Pages arrive one at a time; only their rows stay in memory."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID

from muniment.artifacts.repository import NewArtifact, part_as_json
from muniment.artifacts.text_packs import StoredPageText, TextPackWriter, paragraph_uri, text_sha256
from muniment.processing.readers.contract import Box, ExtractedPage, ExtractionMethod, Figure
from muniment.search.indexing.builder import keep_in_memory
from muniment.search.indexing.chunking import ParagraphSpan, SourcePage


class ArtifactBuilder:
    """Collects the pages of one artifact."""

    def __init__(self, organization_id: UUID | None) -> None:
        self.pack = TextPackWriter(organization_id)
        self.total_words = 0
        self.methods: Counter[str] = Counter()
        self._problems: list[dict[str, Any]] = []
        self._pages: list[str] = []
        self._paragraphs: list[str] = []
        self._pages_in_memory: list[SourcePage] | None = []

    @property
    def total_pages(self) -> int:
        return len(self._pages)

    def add_page(self, page: ExtractedPage) -> None:
        """Add the next page. `LimitCounter` keeps the rows of all pages small enough for memory."""
        words = len(page.text.split())
        self.total_words += words
        stored = self.pack.add_page(page.text)
        self.methods[page.method] += 1
        if page.problem:
            self._problems.append({"page": page.number, "message": page.problem})
        # Serialized at once: the objects of a thousand pages would take a hundred times the memory.
        self._pages.append(_page_row(page, stored, words))
        self._paragraphs.extend(_paragraph_rows(page, stored))
        self._keep_in_memory(page)

    def _keep_in_memory(self, page: ExtractedPage) -> None:
        if self._pages_in_memory is not None and keep_in_memory(self.total_pages):
            spans = [ParagraphSpan(paragraph.start, paragraph.end, paragraph.kind) for paragraph in page.paragraphs]
            self._pages_in_memory.append(SourcePage(page.number, page.text, spans))
        else:
            self._pages_in_memory = None

    @property
    def pages_in_memory(self) -> Sequence[SourcePage] | None:
        """All pages of a text short enough to be kept in memory until it is indexed, else `None`."""
        return self._pages_in_memory

    def build(self, seconds: float) -> NewArtifact:
        """Return the rows of the artifact; `seconds` is the time its extraction took."""
        columns = {
            "full_text_uri": self.pack.key,
            "full_text_sha256": self.pack.sha256,
            "total_pages": self.total_pages,
            "total_words": self.total_words,
            "methods": dict(self.methods),
            "timings": {"seconds": round(seconds, 3)},
            "problems": self._problems,
        }
        return NewArtifact(columns, self._pages, self._paragraphs)

    @property
    def ocr_pages(self) -> int:
        return self.methods[ExtractionMethod.OCR]


def _page_row(page: ExtractedPage, stored: StoredPageText, words: int) -> str:
    return part_as_json(
        page_number=page.number,
        page_text_uri=stored.uri,
        page_text_sha256=stored.sha256,
        layout={
            "width": page.width,
            "height": page.height,
            "rotation": page.rotation,
            "words": [[word.start, word.end, *word.box] for word in page.words],  # in hundredths of a point
        },
        metrics={
            "method": page.method,
            "words": words,
            "characters": len(page.text),
            "confidence": page.confidence,
            "problem": page.problem,
            "figures": _figures_with_keys(page),
        },
    )


def _paragraph_rows(page: ExtractedPage, stored: StoredPageText) -> list[str]:
    return [
        part_as_json(
            page_number=page.number,
            paragraph_index=index,
            paragraph_text_uri=paragraph_uri(stored.uri, paragraph.start, paragraph.end),
            paragraph_text_sha256=text_sha256(page.text[paragraph.start : paragraph.end]),
            features={
                "kind": paragraph.kind,
                "box": _rounded_box(paragraph.box) if paragraph.box else None,
                "start": paragraph.start,
                "end": paragraph.end,
            },
        )
        for index, paragraph in enumerate(page.paragraphs)
    ]


def _figures_with_keys(page: ExtractedPage) -> list[dict[str, Any]]:
    """Return the figures with keys derived from their content, numbered where a page repeats one."""
    seen: Counter[str] = Counter()
    figures = []
    for figure in page.figures:
        seen[figure.sha256] += 1
        figures.append({"key": _diagram_key(page.number, figure, seen[figure.sha256]), **_figure_as_json(figure)})
    return figures


def _diagram_key(page_number: int, figure: Figure, occurrence: int) -> str:
    key = f"p{page_number}-{figure.sha256[:16]}"
    return key if occurrence == 1 else f"{key}-{occurrence}"


def _figure_as_json(figure: Figure) -> dict[str, Any]:
    fields = asdict(figure)
    return {**fields, "box": _rounded_box(figure.box) if figure.box else None}


def _rounded_box(box: Box) -> list[float]:
    return [round(value, 2) for value in box]
