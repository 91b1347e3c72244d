"""From a stream of paragraphs to pages, for the formats that have no layout.

A form feed in a block's text begins a new page there. One with nothing before it begins none, since writers like to
mark the same break twice.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from muniment.processing.readers.contract import (
    PARAGRAPH_BREAK,
    Code,
    Figure,
    Means,
    Method,
    Options,
    Page,
    Paragraph,
    ParagraphKind,
    Reading,
    Unreadable,
)
from muniment.processing.readers.damage import damage_is_unreadable
from muniment.processing.readers.text_blocks import PAGE_BREAK, Block, tidy

_OWN_PAGE_SLACK = 1.5
_CUT_MARKS = ("\n", ". ", " ")


@dataclass(frozen=True, slots=True)
class _Piece:
    block: Block
    begins_page: bool
    """Because the file says so."""


def read_pages(
    kind: str, blocks: Callable[[], Iterable[Block]], options: Options, means: Means, *, has_pages: bool = False
) -> Reading:
    """Cut the blocks into pages, in two passes: one counts, so that the other needs to hold one page only.

    Where a format has pages of its own, they may be somewhat longer than `text_page_characters` before they are cut.
    `means.max_pages` bounds the pages that a file claims to have; the pieces we cut it into are bounded by its size.
    """
    limit = int(options.text_page_characters * (_OWN_PAGE_SLACK if has_pages else 1))
    with damage_is_unreadable(kind):
        total = sum(1 for _ in _cut(blocks(), limit, means.max_pages))
    return Reading(max(total, 1), _number(kind, lambda: _cut(blocks(), limit, means.max_pages)))


def make_page(number: int, blocks: Iterable[Block]) -> Page:
    """One page of these blocks, whatever its length."""
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
    method = Method.TEXT if text else Method.NONE
    return Page(number, PARAGRAPH_BREAK.join(text), method, tuple(paragraphs), figures=tuple(figures))


def _number(kind: str, pages: Callable[[], Iterator[list[Block]]]) -> Iterator[Page]:
    number = 0
    with damage_is_unreadable(kind):
        for number, blocks in enumerate(pages(), start=1):
            yield make_page(number, blocks)
    if not number:
        yield make_page(1, ())


def _cut(blocks: Iterable[Block], limit: int, max_own_pages: int) -> Iterator[list[Block]]:
    page: list[Block] = []
    length = own_pages = 0
    for piece in _pieces(blocks, limit):
        added = len(piece.block.text) + len(PARAGRAPH_BREAK)
        if page and (piece.begins_page or length + added > limit + len(PARAGRAPH_BREAK)):
            yield page
            page, length = [], 0
            own_pages += piece.begins_page
            if own_pages >= max_own_pages:
                raise Unreadable(Code.TOO_MANY_PAGES, f"The file has more than {max_own_pages:,} pages.")
        page.append(piece.block)
        length += added
    if page:
        yield page


def _pieces(blocks: Iterable[Block], limit: int) -> Iterator[_Piece]:
    """Blocks that fit on a page, none of them empty."""
    begins_page = False
    for block in blocks:
        figures = block.figures
        for number, part in enumerate(block.text.split(PAGE_BREAK)):
            begins_page = begins_page or number > 0
            for text in _cut_text(tidy(part), limit):
                yield _Piece(Block(text, block.kind, figures), begins_page)
                begins_page, figures = False, ()
        if figures:
            yield _Piece(Block("", ParagraphKind.TEXT, figures), begins_page)
            begins_page = False


def _cut_text(text: str, limit: int) -> Iterator[str]:
    start = 0
    while len(text) - start > limit:
        end = _find_cut(text, start, start + limit)
        if piece := _TRAILING.sub("", text[start:end]):
            yield piece
        start = end
    if rest := text[start:].strip("\n") if start else text:
        yield rest


_TRAILING = re.compile(r"\s+\Z")


def _find_cut(text: str, start: int, end: int) -> int:
    """Behind the last line, sentence or word that fits, unless that leaves half of the page empty."""
    for mark in _CUT_MARKS:
        at = text.rfind(mark, start + (end - start) // 2, end)
        if at >= 0:
            return at + len(mark)
    return end
