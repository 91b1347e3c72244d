"""Text layer of a page as one string, with the span and box of each word and paragraph."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pypdfium2 import PdfTextPage

from muniment.processing.readers.contract import PARAGRAPH_BREAK, Paragraph, ParagraphKind, Word
from muniment.processing.readers.hyphenation import SOFT_HYPHEN, line_end
from muniment.processing.readers.pdf.geometry import PageSpace, ToPage
from muniment.processing.readers.pdf.text.lines import run_of, runs_of
from muniment.processing.readers.pdf.text.paragraphs import Draft, drafts_of
from muniment.processing.readers.pdf.text.reading_order import Block, Column, in_order
from muniment.processing.readers.pdf.text.tables import Cell
from muniment.processing.readers.pdf.text.words import (
    HYPHEN_AT_LINE_END,
    OBLIQUE,
    DrawnWord,
    Fonts,
    characters,
    drawn_words,
)

_SHOWS_NOTHING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2060\ufeff\ufffe\uffff]")


_LIGATURE = re.compile("[\ufb00-\ufb06\ufb13-\ufb17]")


_WRITTEN_WITHOUT_SPACES = re.compile("[\u2e80-\u312f\u31a0-\u9fff\uf900-\ufaff\uff01-\uff60]")


def clean(text: str) -> str:
    """Without ligatures and characters that show nothing; ², ½ and the like stay what they are."""
    if text.isascii() and text.isprintable():
        return text
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    resolved = _LIGATURE.sub(lambda found: unicodedata.normalize("NFKC", found.group()), whole)
    return _SHOWS_NOTHING.sub("", resolved.replace(HYPHEN_AT_LINE_END, "-"))


class TextBuilder:
    """Puts paragraphs behind each other, counting characters."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self.words: list[Word] = []
        self.paragraphs: list[Paragraph] = []

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def add(self, draft: Draft, to_page: ToPage) -> None:
        """Append a paragraph; one whose words show nothing is left out."""
        joined = _Joined()
        for place, line in enumerate(draft.lines):
            joined.add_line(line, is_row=place > 0 and draft.kind is ParagraphKind.TABLE)
        if not joined.placed:
            return
        if self.paragraphs:
            self._append(PARAGRAPH_BREAK)
        start = self._length
        self._append(joined.text)
        self.paragraphs.append(Paragraph(start, self._length, draft.kind, to_page(draft.box)))
        self.words += [Word(start + begin, start + end, to_page(word[1:5])) for begin, end, word in joined.placed]

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)


class _Joined:
    """The words of one paragraph with what stands between them.

    A word that a line end split is one word; its box is that of the part on the first line.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._last = ""
        self.placed: list[tuple[int, int, DrawnWord]] = []

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def add_line(self, cells: Sequence[Cell], *, is_row: bool) -> None:
        """Append a line of prose, or the cells of a row of a table."""
        if is_row:
            self._put("\n")
        for place, cell in enumerate(_without_empty_end(cells)):
            if place:
                self._put("\t")
            self._add_words(cell, begins=is_row or place > 0)

    def _add_words(self, words: Iterable[DrawnWord], *, begins: bool) -> None:
        is_line_end = not begins
        for word in words:
            text = clean(word.text)
            if not text.strip(SOFT_HYPHEN):
                continue
            if is_line_end and self.placed:
                self._continue(text, word)
            else:
                self._put_word(text, word, "" if begins or not self.placed else " ")
            is_line_end = begins = False

    def _continue(self, text: str, word: DrawnWord) -> None:
        """The first word of a line, behind the last one of the line above."""
        above, between = line_end(self._last, text)
        if between and _WRITTEN_WITHOUT_SPACES.match(above[-1:]) and _WRITTEN_WITHOUT_SPACES.match(text):
            self._put_word(text, word, "")
        elif between:
            self._put_word(text, word, between)
        else:
            self._prolong(above, text)

    def _prolong(self, above: str, text: str) -> None:
        start, end, first = self.placed.pop()
        kept = above.replace(SOFT_HYPHEN, "")
        self._length -= end - start
        self._parts.pop()
        self._put(kept + text.replace(SOFT_HYPHEN, ""))
        self._last = kept + text
        self.placed.append((start, self._length, first))

    def _put_word(self, text: str, word: DrawnWord, before: str) -> None:
        self._last = text
        if SOFT_HYPHEN in text:
            text = text.replace(SOFT_HYPHEN, "")
        start = self._length + len(before)
        self._length = start + len(text)
        self._parts += (before, text)
        self.placed.append((start, self._length, word))

    def _put(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)


def _without_empty_end(cells: Sequence[Cell]) -> Sequence[Cell]:
    end = len(cells)
    while end and not cells[end - 1]:
        end -= 1
    return cells[:end]


_SPACE = re.compile(r"\s+")


_GARBAGE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd\ue000-\uf8ff\U000f0000-\U0010ffff]")


_GARBAGE_SHARE = 0.3


@dataclass(frozen=True, slots=True)
class Layout:
    text: str
    paragraphs: tuple[Paragraph, ...]
    words: tuple[Word, ...]


NO_TEXT = Layout("", (), ())


def lay_out(page: PdfTextPage, space: PageSpace) -> Layout | None:
    """The text as a person reads it; nothing if there is none, or if its fonts do not say what their shapes mean."""
    text = characters(page)
    if not _is_usable(text):
        return None
    builder = TextBuilder()
    fonts = Fonts(page)
    by_direction = drawn_words(page, text, space)
    for direction in sorted(by_direction, key=lambda key: (-len(by_direction[key]), key)):
        blocks = _blocks(by_direction[direction], direction, space)
        to_page = space.upright_to_page(direction % OBLIQUE)
        for draft in drafts_of(blocks, fonts):
            builder.add(draft, to_page)
    return Layout(builder.text, tuple(builder.paragraphs), tuple(builder.words)) if builder.words else None


def _is_usable(text: str) -> bool:
    shown = _SPACE.sub("", text)
    return bool(shown) and len(_GARBAGE.findall(shown)) <= _GARBAGE_SHARE * len(shown)


def _blocks(words: Sequence[DrawnWord], direction: int, space: PageSpace) -> list[Block]:
    if direction == OBLIQUE:
        # Boxes of slanted words overlap each other, so the order in which they were drawn is the best one.
        return [Column((run_of(words),))]
    _, height = space.upright_size(direction)
    return in_order(runs_of(words), height)
