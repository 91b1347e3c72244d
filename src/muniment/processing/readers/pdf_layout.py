"""A page of a PDF with a text layer, as a `Page`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pypdfium2 import PdfTextPage

from muniment.processing.readers.contract import Paragraph, Word
from muniment.processing.readers.pdf_columns import Block, Column, in_order
from muniment.processing.readers.pdf_lines import run_of, runs_of
from muniment.processing.readers.pdf_paragraphs import drafts_of
from muniment.processing.readers.pdf_space import PageSpace
from muniment.processing.readers.pdf_text import TextBuilder
from muniment.processing.readers.pdf_words import OBLIQUE, DrawnWord, Fonts, characters, drawn_words

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
