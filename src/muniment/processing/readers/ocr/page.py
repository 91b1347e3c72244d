"""Build a page from OCR words: paragraphs in reading order, boxes in points."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from statistics import median

from muniment.processing.readers.captions import is_caption
from muniment.processing.readers.contract import (
    PARAGRAPH_BREAK,
    Box,
    ExtractedPage,
    ExtractionMethod,
    Figure,
    Paragraph,
    ParagraphKind,
    Word,
)
from muniment.processing.readers.hyphenation import join_at_line_end
from muniment.processing.readers.ocr.results import OcrResult, OcrWord, PixelBox

HEADING_HEIGHT_RATIO = 1.3
"""Words this much higher than the others on the page are headings."""
MAX_HEADING_WORDS = 15

_LIST_ITEM = re.compile(r"(?:[•●▪‣◦*–—-]|\d{1,3}[.)]|[a-z]\)) \S")


def build_page(
    number: int,
    result: OcrResult,
    width: float,
    height: float,
    rotation: int = 0,
    figures: Sequence[Figure] = (),
) -> ExtractedPage:
    """Build a page of this size in points. A word split at a line end is one word, with the box of its first part."""
    builder = _PageBuilder(width / result.width, height / result.height, _typical_height(result.words))
    for _, words in groupby(result.words, key=lambda word: (word.block, word.paragraph)):
        builder.add_paragraph(list(words))
    return ExtractedPage(
        number,
        builder.text,
        ExtractionMethod.OCR if result.words else ExtractionMethod.NONE,
        tuple(builder.paragraphs),
        tuple(builder.words),
        tuple(figures),
        width=width,
        height=height,
        rotation=rotation,
        confidence=round(result.confidence, 4) if result.words else None,
    )


class _PageBuilder:
    """Builds a page paragraph by paragraph."""

    def __init__(self, x_scale: float, y_scale: float, typical_height: float) -> None:
        self.text = ""
        self.paragraphs: list[Paragraph] = []
        self.words: list[Word] = []
        self._x_scale, self._y_scale = x_scale, y_scale
        self._typical_height = typical_height

    def add_paragraph(self, words: list[OcrWord]) -> None:
        self.text += PARAGRAPH_BREAK if self.text else ""
        start = len(self.text)
        running = "".join(self._add_words(words, start))
        self.text += running
        box = self._box(word.box for word in words)
        self.paragraphs.append(Paragraph(start, len(self.text), self._kind(running, words), box))

    def _add_words(self, words: list[OcrWord], start: int) -> Iterator[str]:
        """Record the position of each word, and return its text with the separator after it."""
        is_split = False
        for word, following in zip(words, [*words[1:], None], strict=True):
            text, gap = _running_text(word, following)
            first = self.words.pop() if is_split else None
            box = first.box if first else self._box([word.box])
            self.words.append(Word(first.start if first else start, start + len(text), box))
            is_split = following is not None and not gap
            start += len(text) + len(gap)
            yield text + gap

    def _box(self, boxes: Iterable[PixelBox]) -> Box:
        lefts, tops, rights, bottoms = zip(*boxes, strict=True)
        x, y = self._x_scale, self._y_scale
        return round(min(lefts) * x, 2), round(min(tops) * y, 2), round(max(rights) * x, 2), round(max(bottoms) * y, 2)

    def _kind(self, text: str, words: list[OcrWord]) -> ParagraphKind:
        if is_caption(text):
            return ParagraphKind.CAPTION
        if _LIST_ITEM.match(text):
            return ParagraphKind.LIST_ITEM
        if (
            len(words) <= MAX_HEADING_WORDS
            and _typical_height(words) >= HEADING_HEIGHT_RATIO * self._typical_height > 0
        ):
            return ParagraphKind.HEADING
        return ParagraphKind.TEXT


def _running_text(word: OcrWord, following: OcrWord | None) -> tuple[str, str]:
    if following is None:
        return word.text, ""
    return join_at_line_end(word.text, following.text) if word.line != following.line else (word.text, " ")


def _typical_height(words: Sequence[OcrWord]) -> float:
    """Return the median height of words long enough to be wider than high; for rotated lines, their width."""
    sizes = [min(right - left, bottom - top) for left, top, right, bottom in (w.box for w in words if len(w.text) > 2)]
    return median(sizes) if sizes else 0.0
