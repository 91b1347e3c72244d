"""Values that every reader returns, whatever the format. They leave the sandbox as JSON.

Boxes are in points (1/72 inch): left, top, right, bottom, from the upper left corner of the page as displayed, with
rotation applied. Spans count characters of the page's own text.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import BinaryIO, NamedTuple, Protocol

Box = tuple[float, float, float, float]


PARAGRAPH_BREAK = "\n\n"
"""Separator of paragraphs in the text of a page."""


class ExtractionMethod(StrEnum):
    """Source of the text of a page."""

    TEXT = "text"
    OCR = "ocr"
    NONE = "none"
    """No text: an empty page, or one that could not be read."""


class ParagraphKind(StrEnum):
    TEXT = "text"
    HEADING = "heading"
    LIST_ITEM = "list_item"
    TABLE = "table"
    """A whole table: one line per row, cells separated by tabs."""
    CAPTION = "caption"


class Word(NamedTuple):
    """A word of a page. A tuple, because a dense page has hundreds and a dataclass takes twice as long to create."""

    start: int
    end: int
    box: Box


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of a page. Paragraphs are in reading order and do not overlap; `PARAGRAPH_BREAK` is between them."""

    start: int
    end: int
    kind: ParagraphKind = ParagraphKind.TEXT
    box: Box | None = None
    """`None` if the format has no layout, such as email."""


MAX_FIGURE_SIDE = 1_000_000
"""Maximum side of an image in pixels; larger claims are not believed."""


class FigureKind(StrEnum):
    PICTURE = "picture"
    DRAWING = "drawing"


@dataclass(frozen=True, slots=True)
class Figure:
    """An embedded image or a cluster of drawings. Equal files give equal figures in the same order on every run."""

    kind: FigureKind
    sha256: str
    """Digest of what it shows (pixels, or the shapes of a drawing), not of its position."""
    width_px: int
    height_px: int
    box: Box | None = None
    caption: str | None = None
    source: str | None = None
    """How to find it in the file again if it has no box, for example the name of a part of a DOCX."""


@dataclass(frozen=True, slots=True)
class ExtractedPage:
    number: int
    """Page number, from 1, without gaps."""
    text: str
    """Text in reading order: column by column, ligatures resolved, words joined across line ends."""
    method: ExtractionMethod
    paragraphs: tuple[Paragraph, ...] = ()
    words: tuple[Word, ...] = ()
    """Words with boxes, only if the format has a layout."""
    figures: tuple[Figure, ...] = ()
    width: float | None = None
    height: float | None = None
    rotation: int = 0
    """Applied rotation in degrees clockwise."""
    problem: str | None = None
    """Why this page could not be processed, as a sentence; other pages are not affected."""
    confidence: float | None = None
    """Confidence of OCR, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class OpenedDocument:
    """A file that could be opened.

    `pages` computes one page at a time, so that memory does not grow with their number.
    """

    total_pages: int
    pages: Iterator[ExtractedPage]


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """Options that change a result. They are part of the reading fingerprint (docs/design.md#variants)."""

    ocr_languages: tuple[str, ...] = ("eng", "deu")
    ocr_dpi: int = 200
    text_page_characters: int = 10_000
    """Length of the pages into which formats without pages are split, at the end of a paragraph."""
    figure_min_points: float = 36.0
    """Minimum size in points of images and drawings; smaller ones are decoration."""


@dataclass(frozen=True, slots=True)
class ReaderResources:
    """Resource limits and external programs of a reader. They can abort a reading but never change its result."""

    first_page: int = 1
    """Earlier pages are known from an interrupted run. A reader may skip them."""
    max_pages: int = 3000
    max_paragraphs: int = 250_000
    max_characters: int = 50_000_000
    max_rows: int = 300_000
    """Maximum number of pages, paragraphs and figures together: each is a row."""
    max_expansion: int = 200
    """How many times as large as the file its content may be. Small contents are always allowed."""
    max_pixels: int = 100_000_000
    """Maximum number of pixels of one image or rendered page."""
    max_unpacked_bytes: int = 1 << 30
    """Maximum size of all unpacked parts of a packed file (DOCX, …) together."""
    ocr_processes: int = 2
    tesseract: str | None = None
    """Path of the program. Without it, pages that need OCR have no text and a problem instead."""
    tessdata: str | None = None


@dataclass(frozen=True, slots=True)
class RenderedImage:
    """A rendered image of a page or figure."""

    png: bytes = field(repr=False)
    width_px: int = 0
    height_px: int = 0


class DocumentReader(Protocol):
    """Protocol of a reader module, one per family of formats. It runs in the sandbox and is not trusted."""

    def open_file(
        self, file: BinaryIO, media_type: str, options: ReadingOptions, resources: ReaderResources
    ) -> OpenedDocument:
        """Open a file, or raise `Unreadable`. `file` is seekable and has no name."""
