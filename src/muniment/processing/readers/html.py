"""Web pages: what a person would see of them, in its blocks. Nothing is fetched and nothing is run."""

import re
from typing import BinaryIO

from selectolax.lexbor import LexborHTMLParser

from muniment.processing.readers.charset import by_mark, detect, known_encoding
from muniment.processing.readers.contract import Means, Options, ParagraphKind, Reading
from muniment.processing.readers.damage import damage_is_unreadable
from muniment.processing.readers.html_depth import flatten
from muniment.processing.readers.html_walk import Walk
from muniment.processing.readers.paging import read_pages
from muniment.processing.readers.text_blocks import Block, in_one_line

_HEAD_BYTES = 4096
_DECLARED = re.compile(
    rb"<(?:meta[^>]{0,500}?charset|\?xml[^>]{0,200}?encoding)\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE
)


def open_file(file: BinaryIO, media_type: str, options: Options, means: Means) -> Reading:
    with damage_is_unreadable("HTML"):
        encoding = _find_encoding(file)
        blocks = html_blocks(file.read().decode(encoding, errors="replace"))
    return read_pages("HTML", lambda: blocks, options, means)


def html_blocks(source: str) -> list[Block]:
    """The paragraphs of a page, its title first unless a heading says the same."""
    tree = LexborHTMLParser(flatten(source.replace("\0", "")))
    blocks = Walk().through(tree.root) if tree.root else []
    named = tree.head.css_first("title") if tree.head else None
    title = in_one_line(named.text()) if named else ""
    if title and not _says(blocks, title):
        blocks.insert(0, Block(title, ParagraphKind.HEADING))
    return blocks


def _says(blocks: list[Block], title: str) -> bool:
    headings = (in_one_line(block.text) for block in blocks if block.kind is ParagraphKind.HEADING)
    return any(heading == title or title.startswith(heading + " ") for heading in headings if heading)


def _find_encoding(file: BinaryIO) -> str:
    head = file.read(_HEAD_BYTES)
    file.seek(0)
    declared = _DECLARED.search(head)
    name = known_encoding(declared[1].decode("ascii", "replace")) if declared else None
    # A declaration that could be read as ASCII cannot mean UTF-16 or UTF-32.
    if name and name.startswith(("utf-16", "utf-32")):
        name = "utf-8"
    return by_mark(head) or name or detect(file)
