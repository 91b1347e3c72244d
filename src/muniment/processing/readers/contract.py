"""What every reader gives back, whatever the kind of file. Pure values: they cross from the sandbox as JSON.

Boxes are in points (1/72 inch), left, top, right, bottom, measured from the upper left corner of the page as a person
sees it, its rotation applied. Spans count characters of the page's own text.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import BinaryIO, Protocol

Box = tuple[float, float, float, float]


PARAGRAPH_BREAK = "\n\n"
"""What stands between two paragraphs in a page's text."""


class ExtractionMethod(StrEnum):
    """Where a page's text came from."""

    TEXT = "text"
    OCR = "ocr"
    NONE = "none"
    """There is none: an empty page, or one that could not be read."""


class ParagraphKind(StrEnum):
    TEXT = "text"
    HEADING = "heading"
    LIST_ITEM = "list_item"
    TABLE = "table"
    """A whole table: one line per row, cells separated by tabs."""
    CAPTION = "caption"


@dataclass(frozen=True, slots=True)
class Word:
    start: int
    end: int
    box: Box


@dataclass(frozen=True, slots=True)
class Paragraph:
    """In reading order, none overlapping another; the text between two of them is `PARAGRAPH_BREAK`."""

    start: int
    end: int
    kind: ParagraphKind = ParagraphKind.TEXT
    box: Box | None = None
    """`None` where the file has no layout, as in a mail."""


MAX_FIGURE_SIDE = 1_000_000
"""Pixels. A picture that claims more is a lie."""


class FigureKind(StrEnum):
    PICTURE = "picture"
    DRAWING = "drawing"


@dataclass(frozen=True, slots=True)
class Figure:
    """An embedded picture or a cluster of drawings. Equal files give equal figures in the same order, on every run."""

    kind: FigureKind
    sha256: str
    """Of what it shows (pixels, or the drawing's shapes), not of where it stands."""
    width_px: int
    height_px: int
    box: Box | None = None
    caption: str | None = None
    source: str | None = None
    """How to find it in the file again where no box tells, e.g. the name of a part of a DOCX."""


@dataclass(frozen=True, slots=True)
class ExtractedPage:
    number: int
    """From 1, without gaps."""
    text: str
    """As a person reads it: columns one after the other, ligatures resolved, words joined that a line end split."""
    method: ExtractionMethod
    paragraphs: tuple[Paragraph, ...] = ()
    words: tuple[Word, ...] = ()
    """Only where the file has a layout."""
    figures: tuple[Figure, ...] = ()
    width: float | None = None
    height: float | None = None
    rotation: int = 0
    """Applied rotation in degrees clockwise."""
    problem: str | None = None
    """Why this page could not be processed, as a sentence; the rest of the document still is."""
    confidence: float | None = None
    """Of OCR, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class OpenedDocument:
    """A file that could be opened. `pages` computes one page at a time, so that memory does not grow with them."""

    total_pages: int
    pages: Iterator[ExtractedPage]


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """Everything that changes a result. It goes into the reading fingerprint (docs/design.md#variants)."""

    ocr_languages: tuple[str, ...] = ("eng", "deu")
    ocr_dpi: int = 200
    text_page_characters: int = 10_000
    """Where a format has no pages of its own, its text is cut into such pieces, at the end of a paragraph."""
    figure_min_points: float = 36.0
    """Smaller pictures and drawings are ornaments."""


@dataclass(frozen=True, slots=True)
class ReaderResources:
    """With what a file is read, and what it may cost. They change no result, they only end a reading."""

    max_pages: int = 3000
    max_pixels: int = 100_000_000
    """Of one picture or one rendered page."""
    max_unpacked_bytes: int = 1 << 30
    """Of all parts of a packed file (DOCX, …) together."""
    ocr_processes: int = 2
    tesseract: str | None = None
    """The program; without one, pages that need OCR stay without text and say so."""
    tessdata: str | None = None


@dataclass(frozen=True, slots=True)
class RenderedImage:
    """A picture of a page or of a figure."""

    png: bytes = field(repr=False)
    width_px: int = 0
    height_px: int = 0


class DocumentReader(Protocol):
    """One module per family of formats. It runs inside the sandbox: it may crash, it may not be trusted."""

    def open_file(
        self, file: BinaryIO, media_type: str, options: ReadingOptions, resources: ReaderResources
    ) -> OpenedDocument:
        """Open it, or raise `Unreadable`. `file` can be read and sought, and has no name."""
