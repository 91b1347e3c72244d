"""Paragraphs on their way to a page, and what is taken out of their text."""

import re
from dataclasses import dataclass

from muniment.processing.readers.contract import Figure, ParagraphKind

PAGE_BREAK = "\f"
"""In a block's text: here a new page begins."""

_LINE_ENDS = re.compile(r"\r\n?|[\v\x85\u2028\u2029]")
# Controls, soft hyphens, byte order marks, halves of characters and what Unicode says is no character.
_UNWANTED = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\ufeff\ufff0-\ufffb\ufffe\uffff\ud800-\udfff]")
_BLANK_LINES = re.compile(r"[ \t\xa0]*\n(?:[ \t\xa0]*\n)*")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, or figures that stand between paragraphs."""

    text: str
    kind: ParagraphKind = ParagraphKind.TEXT
    figures: tuple[Figure, ...] = ()


def tidy(text: str) -> str:
    """What a person can see of it: no controls, no blank lines, nothing at its end. It keeps its indentation."""
    if not text.isprintable():
        text = _UNWANTED.sub("", _LINE_ENDS.sub("\n", text))
        text = _BLANK_LINES.sub("\n", text).strip("\n")
    return text.rstrip()


def in_one_line(text: str) -> str:
    """For headings, cells and captions: all space is one space. A page break among it is lost."""
    return _SPACE.sub(" ", _UNWANTED.sub("", text)).strip()


def make_row(cells: list[str]) -> str:
    """One line of a table; empty cells at its end are left out."""
    return "\t".join(in_one_line(cell) for cell in cells).rstrip("\t")


def make_table(rows: list[list[str]]) -> str:
    """The text of a table, without its empty rows."""
    return "\n".join(line for cells in rows if (line := make_row(cells)))
