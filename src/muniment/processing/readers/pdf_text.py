"""A page's text as one string, and where each word and paragraph stands in it."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from muniment.processing.readers.contract import PARAGRAPH_BREAK, Paragraph, ParagraphKind, Word
from muniment.processing.readers.line_ends import SOFT_HYPHEN, line_end
from muniment.processing.readers.pdf_paragraphs import Draft
from muniment.processing.readers.pdf_space import ToPage
from muniment.processing.readers.pdf_tables import Cell
from muniment.processing.readers.pdf_words import HYPHEN_AT_LINE_END, DrawnWord

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
