"""Collect extracted pages into a text pack and rows. Pages arrive one at a time; only their rows stay in memory."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID

from muniment.artifacts.repository import NewText, row
from muniment.artifacts.text_packs import Pack, PageText, paragraph_uri, sha256_of
from muniment.processing.readers.contract import Box, Figure, Method, Page
from muniment.processing.readers.errors import Code, Unreadable
from muniment.search.indexing.builder import SLICE_PAGES
from muniment.search.indexing.chunking import PageSource, Span

MAX_WORDS = 10_000_000


class Draft:
    def __init__(self, organization_id: UUID | None) -> None:
        self.pack = Pack(organization_id)
        self.total_words = 0
        self.methods: Counter[str] = Counter()
        self._rows = 0
        self._problems: list[dict[str, Any]] = []
        self._pages: list[str] = []
        self._paragraphs: list[str] = []
        self._sources: list[PageSource] | None = []

    @property
    def total_pages(self) -> int:
        return len(self._pages)

    def add(self, page: Page) -> None:
        """Raises `Unreadable` for a document that holds more than a library: its rows would fill the memory."""
        words = len(page.text.split())
        self.total_words += words
        self._rows += len(page.words) + len(page.paragraphs) + len(page.figures)
        if max(self.total_words, self._rows) > MAX_WORDS:
            raise Unreadable(Code.READER_MEMORY, f"This file has more than {MAX_WORDS:,} words. Split it.")
        stored = self.pack.add(page.text)
        self.methods[page.method] += 1
        if page.problem:
            self._problems.append({"page": page.number, "message": page.problem})
        # As JSON at once: the objects of a thousand pages would take a hundred times the room.
        self._pages.append(_page_row(page, stored, words))
        self._paragraphs.extend(_paragraph_rows(page, stored))
        self._keep_source(page)

    def _keep_source(self, page: Page) -> None:
        if self._sources is not None and len(self._sources) < SLICE_PAGES:
            spans = [Span(paragraph.start, paragraph.end, paragraph.kind) for paragraph in page.paragraphs]
            self._sources.append(PageSource(page.number, page.text, spans))
        else:
            self._sources = None

    @property
    def sources(self) -> Sequence[PageSource] | None:
        """All pages of a text short enough to be kept in memory, for whoever cuts it into passages next."""
        return self._sources

    def finished(self, seconds: float) -> NewText:
        head = {
            "full_text_uri": self.pack.key,
            "full_text_sha256": self.pack.sha256,
            "total_pages": self.total_pages,
            "total_words": self.total_words,
            "methods": dict(self.methods),
            "timings": {"seconds": round(seconds, 3)},
            "problems": self._problems,
        }
        return NewText(head, self._pages, self._paragraphs)

    @property
    def ocr_pages(self) -> int:
        return self.methods[Method.OCR]


def _page_row(page: Page, stored: PageText, words: int) -> str:
    return row(
        page_number=page.number,
        page_text_uri=stored.uri,
        page_text_sha256=stored.sha256,
        layout={
            "width": page.width,
            "height": page.height,
            "rotation": page.rotation,
            "words": [[word.start, word.end, *_rounded(word.box)] for word in page.words],
        },
        metrics={
            "method": page.method,
            "words": words,
            "characters": len(page.text),
            "confidence": page.confidence,
            "problem": page.problem,
            "figures": _figures(page),
        },
    )


def _paragraph_rows(page: Page, stored: PageText) -> list[str]:
    return [
        row(
            page_number=page.number,
            paragraph_index=index,
            paragraph_text_uri=paragraph_uri(stored.uri, paragraph.start, paragraph.end),
            paragraph_text_sha256=sha256_of(page.text[paragraph.start : paragraph.end]),
            features={
                "kind": paragraph.kind,
                "box": _rounded(paragraph.box) if paragraph.box else None,
                "start": paragraph.start,
                "end": paragraph.end,
            },
        )
        for index, paragraph in enumerate(page.paragraphs)
    ]


def _figures(page: Page) -> list[dict[str, Any]]:
    """With keys that are the same on every run: by what is seen; twins on one page are numbered."""
    seen: Counter[str] = Counter()
    figures = []
    for figure in page.figures:
        seen[figure.sha256] += 1
        figures.append({"key": _diagram_key(page.number, figure, seen[figure.sha256]), **_figure(figure)})
    return figures


def _diagram_key(page_number: int, figure: Figure, occurrence: int) -> str:
    key = f"p{page_number}-{figure.sha256[:16]}"
    return key if occurrence == 1 else f"{key}-{occurrence}"


def _figure(figure: Figure) -> dict[str, Any]:
    plain = asdict(figure)
    return {**plain, "box": _rounded(figure.box) if figure.box else None}


def _rounded(box: Box) -> list[float]:
    return [round(value, 2) for value in box]
