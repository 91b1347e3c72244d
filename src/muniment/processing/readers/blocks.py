"""Blocks of formats without a layout, and their pagination."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from muniment.processing.readers.contract import (
    PARAGRAPH_BREAK,
    ExtractedPage,
    ExtractionMethod,
    Figure,
    OpenedDocument,
    Paragraph,
    ParagraphKind,
    ReaderResources,
    ReadingOptions,
)
from muniment.processing.readers.errors import parser_errors_as_unreadable
from muniment.processing.readers.limits import LimitCounter

PAGE_BREAK = "\f"
"""Page break inside the text of a block."""


_LINE_ENDS = re.compile(r"\r\n?|[\v\x85\u2028\u2029]")


# Control characters, soft hyphens, byte order marks, surrogates and Unicode noncharacters.
_INVISIBLE = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\ufeff\ufff0-\ufffb\ufffe\uffff\ud800-\udfff]")


_BLANK_LINES = re.compile(r"[ \t\xa0]*\n(?:[ \t\xa0]*\n)*")


_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, or figures that stand between paragraphs."""

    text: str
    kind: ParagraphKind = ParagraphKind.TEXT
    figures: tuple[Figure, ...] = ()


def clean_text(text: str) -> str:
    """Return the visible text: no control characters, blank lines or trailing space. Indentation is kept."""
    if not text.isprintable():
        text = _INVISIBLE.sub("", _LINE_ENDS.sub("\n", text))
        text = _BLANK_LINES.sub("\n", text).strip("\n")
    return text.rstrip()


def collapse_whitespace(text: str) -> str:
    """Collapse all whitespace to single spaces, for headings, cells and captions. Page breaks are lost."""
    return _SPACE.sub(" ", _INVISIBLE.sub("", text)).strip()


def make_row(cells: list[str]) -> str:
    """Return one line of a table, without empty cells at its end."""
    return "\t".join(collapse_whitespace(cell) for cell in cells).rstrip("\t")


def make_table(rows: list[list[str]]) -> str:
    """Return the text of a table without empty rows."""
    return "\n".join(line for cells in rows if (line := make_row(cells)))


_OWN_PAGE_TOLERANCE = 1.5


_SPLIT_MARKS = ("\n", ". ", " ")


@dataclass(frozen=True, slots=True)
class _Piece:
    block: Block
    begins_page: bool
    """Whether the file itself starts a page here."""


def paginate(
    kind: str,
    blocks: Callable[[], Iterable[Block]],
    options: ReadingOptions,
    resources: ReaderResources,
    *,
    has_pages: bool = False,
) -> OpenedDocument:
    """Split blocks into pages in two passes: the first one counts, so that the second one holds only one page.

    Pages that a format defines itself may be somewhat longer than `text_page_characters` before they are split.
    """
    limit = int(options.text_page_characters * (_OWN_PAGE_TOLERANCE if has_pages else 1))
    with parser_errors_as_unreadable(kind):
        total = _count_pages(_split_into_pages(limit_blocks(blocks(), resources), limit), resources)
    return OpenedDocument(max(total, 1), _number_pages(kind, lambda: _split_into_pages(blocks(), limit)))


def limit_blocks(blocks: Iterable[Block], resources: ReaderResources) -> Iterator[Block]:
    """Yield the blocks of a file until there are too many of them."""
    counter = LimitCounter(resources)
    for block in blocks:
        counter.add(paragraphs=bool(block.text), characters=len(block.text), figures=len(block.figures))
        yield block


def _count_pages(pages: Iterable[list[Block]], resources: ReaderResources) -> int:
    counter = LimitCounter(resources)
    for _ in pages:
        counter.end_page()
    return counter.pages


def make_page(number: int, blocks: Iterable[Block]) -> ExtractedPage:
    """Build one page of these blocks, whatever its length."""
    text: list[str] = []
    paragraphs: list[Paragraph] = []
    figures: list[Figure] = []
    end = 0
    for block in blocks:
        figures += block.figures
        if not block.text:
            continue
        start = end + len(PARAGRAPH_BREAK) if paragraphs else 0
        end = start + len(block.text)
        text.append(block.text)
        paragraphs.append(Paragraph(start, end, block.kind))
    method = ExtractionMethod.TEXT if text else ExtractionMethod.NONE
    return ExtractedPage(number, PARAGRAPH_BREAK.join(text), method, tuple(paragraphs), figures=tuple(figures))


def _number_pages(kind: str, pages: Callable[[], Iterator[list[Block]]]) -> Iterator[ExtractedPage]:
    number = 0
    with parser_errors_as_unreadable(kind):
        for number, blocks in enumerate(pages(), start=1):
            yield make_page(number, blocks)
    if not number:
        yield make_page(1, ())


def _split_into_pages(blocks: Iterable[Block], limit: int) -> Iterator[list[Block]]:
    page: list[Block] = []
    length = 0
    for piece in _fitting_pieces(blocks, limit):
        added = len(piece.block.text) + len(PARAGRAPH_BREAK)
        if page and (piece.begins_page or length + added > limit + len(PARAGRAPH_BREAK)):
            yield page
            page, length = [], 0
        page.append(piece.block)
        length += added
    if page:
        yield page


def _fitting_pieces(blocks: Iterable[Block], limit: int) -> Iterator[_Piece]:
    """Yield non-empty blocks that fit on a page."""
    begins_page = False
    for block in blocks:
        figures = block.figures
        for number, part in enumerate(block.text.split(PAGE_BREAK)):
            begins_page = begins_page or number > 0
            for text in _split_text(clean_text(part), limit):
                yield _Piece(Block(text, block.kind, figures), begins_page)
                begins_page, figures = False, ()
        if figures:
            yield _Piece(Block("", ParagraphKind.TEXT, figures), begins_page)
            begins_page = False


def _split_text(text: str, limit: int) -> Iterator[str]:
    start = 0
    while len(text) - start > limit:
        end = _find_split(text, start, start + limit)
        if piece := _TRAILING.sub("", text[start:end]):
            yield piece
        start = end
    if rest := text[start:].strip("\n") if start else text:
        yield rest


_TRAILING = re.compile(r"\s+\Z")


def _find_split(text: str, start: int, end: int) -> int:
    """Return the position after the last line, sentence or word that fits, unless half of the page would be empty."""
    for mark in _SPLIT_MARKS:
        at = text.rfind(mark, start + (end - start) // 2, end)
        if at >= 0:
            return at + len(mark)
    return end
