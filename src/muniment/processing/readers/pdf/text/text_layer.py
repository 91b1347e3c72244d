"""Build the text layer of a page as one string, with the span and box of each word and paragraph."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pypdfium2 import PdfTextPage

from muniment.processing.readers.contract import PARAGRAPH_BREAK, Paragraph, ParagraphKind, Word
from muniment.processing.readers.hyphenation import SOFT_HYPHEN, join_at_line_end
from muniment.processing.readers.pdf.geometry import PageGeometry, ToPage, rounded_box, unchanged
from muniment.processing.readers.pdf.text.lines import group_runs, make_run
from muniment.processing.readers.pdf.text.paragraphs import ParagraphDraft, build_paragraphs
from muniment.processing.readers.pdf.text.reading_order import Column, LayoutBlock, reading_order
from muniment.processing.readers.pdf.text.tables import Cell
from muniment.processing.readers.pdf.text.words import (
    HYPHEN_AT_LINE_END,
    OBLIQUE,
    Fonts,
    PdfWord,
    extract_words,
    read_characters,
)

_INVISIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2060\ufeff\ufffe\uffff]")


_LIGATURE = re.compile("[\ufb00-\ufb06\ufb13-\ufb17]")


_WRITTEN_WITHOUT_SPACES = re.compile("[\u2e80-\u312f\u31a0-\u9fff\uf900-\ufaff\uff01-\uff60]")


def normalize_text(text: str) -> str:
    """Resolve ligatures and remove invisible characters; ², ½ and the like stay."""
    if text.isascii() and text.isprintable():
        return text
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    resolved = _LIGATURE.sub(lambda found: unicodedata.normalize("NFKC", found.group()), whole)
    return _INVISIBLE.sub("", resolved.replace(HYPHEN_AT_LINE_END, "-"))


class TextBuilder:
    """Appends paragraphs and counts characters."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self.words: list[Word] = []
        self.paragraphs: list[Paragraph] = []

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def add(self, draft: ParagraphDraft, to_page: ToPage) -> None:
        """Append a paragraph, unless its words are invisible."""
        joined = _ParagraphText()
        for index, line in enumerate(draft.lines):
            joined.add_line(line, is_row=index > 0 and draft.kind is ParagraphKind.TABLE)
        if not joined.placed:
            return
        if self.paragraphs:
            self._append(PARAGRAPH_BREAK)
        start = self._length
        self._append(joined.text)
        self.paragraphs.append(Paragraph(start, self._length, draft.kind, rounded_box(to_page(draft.box))))
        if to_page is unchanged:  # nearly always; a call for each word would take a tenth of the time of a page
            self.words += [Word(start + begin, start + end, word[1:5]) for begin, end, word in joined.placed]
        else:
            self.words += [Word(start + begin, start + end, to_page(word[1:5])) for begin, end, word in joined.placed]

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)


class _ParagraphText:
    """The words of one paragraph with their separators.

    A word split at a line end is one word; its box is that of the part on the first line.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._last = ""
        self.placed: list[tuple[int, int, PdfWord]] = []

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def add_line(self, cells: Sequence[Cell], *, is_row: bool) -> None:
        """Append a line of prose, or the cells of a table row."""
        if is_row:
            self._append("\n")
        for index, cell in enumerate(_trim_empty_cells(cells)):
            if index:
                self._append("\t")
            self._add_words(cell, begins=is_row or index > 0)

    def _add_words(self, words: Iterable[PdfWord], *, begins: bool) -> None:
        is_line_end = not begins
        for word in words:
            text = word.text
            if not (text.isascii() and text.isprintable()):
                text = normalize_text(text)
                if not text.strip(SOFT_HYPHEN):
                    continue
            if is_line_end and self.placed:
                self._continue_line(text, word)
            else:
                self._append_word(text, word, "" if begins or not self.placed else " ")
            is_line_end = begins = False

    def _continue_line(self, text: str, word: PdfWord) -> None:
        """Append the first word of a line to the last one of the line above."""
        above, between = join_at_line_end(self._last, text)
        if between and _WRITTEN_WITHOUT_SPACES.match(above[-1:]) and _WRITTEN_WITHOUT_SPACES.match(text):
            self._append_word(text, word, "")
        elif between:
            self._append_word(text, word, between)
        else:
            self._extend_word(above, text)

    def _extend_word(self, above: str, text: str) -> None:
        start, end, first = self.placed.pop()
        stem = above.replace(SOFT_HYPHEN, "")
        self._length -= end - start
        self._parts.pop()
        self._append(stem + text.replace(SOFT_HYPHEN, ""))
        self._last = stem + text
        self.placed.append((start, self._length, first))

    def _append_word(self, text: str, word: PdfWord, before: str) -> None:
        self._last = text
        if SOFT_HYPHEN in text:
            text = text.replace(SOFT_HYPHEN, "")
        start = self._length + len(before)
        self._length = start + len(text)
        self._parts += (before, text)
        self.placed.append((start, self._length, word))

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)


def _trim_empty_cells(cells: Sequence[Cell]) -> Sequence[Cell]:
    end = len(cells)
    while end and not cells[end - 1]:
        end -= 1
    return cells[:end]


_UNMAPPED = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd\ue000-\uf8ff\U000f0000-\U0010ffff]")


_MAX_UNMAPPED_SHARE = 0.3


@dataclass(frozen=True, slots=True)
class TextLayer:
    text: str
    paragraphs: tuple[Paragraph, ...]
    words: tuple[Word, ...]


EMPTY_TEXT_LAYER = TextLayer("", (), ())


def extract_text_layer(page: PdfTextPage, geometry: PageGeometry) -> TextLayer | None:
    """Return the text in reading order, or nothing if there is none or its fonts have no Unicode mapping."""
    text = read_characters(page)
    if not _is_usable(text):
        return None
    builder = TextBuilder()
    fonts = Fonts(page)
    by_direction = extract_words(page, text, geometry)
    for direction in sorted(by_direction, key=lambda key: (-len(by_direction[key]), key)):
        blocks = _layout_blocks(by_direction[direction], direction, geometry)
        to_page = geometry.upright_to_page(direction % OBLIQUE)
        for draft in build_paragraphs(blocks, fonts):
            builder.add(draft, to_page)
    return TextLayer(builder.text, tuple(builder.paragraphs), tuple(builder.words)) if builder.words else None


def _is_usable(text: str) -> bool:
    characters = "".join(text.split())
    return bool(characters) and len(_UNMAPPED.findall(characters)) <= _MAX_UNMAPPED_SHARE * len(characters)


def _layout_blocks(words: Sequence[PdfWord], direction: int, geometry: PageGeometry) -> list[LayoutBlock]:
    if direction == OBLIQUE:
        # Boxes of slanted words overlap, so the drawing order is the best one.
        return [Column((make_run(words),))]
    _, height = geometry.upright_size(direction)
    return reading_order(group_runs(words), height)
