"""Reader of plain text and Markdown. A file is read line by line, so that memory does not grow with its size."""

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from io import TextIOWrapper
from typing import BinaryIO

from muniment.documents.media_types.types import MARKDOWN
from muniment.processing.readers.blocks import PAGE_BREAK, Block, paginate
from muniment.processing.readers.contract import OpenedDocument, ReaderResources, ReadingOptions
from muniment.processing.readers.encodings import detect_encoding
from muniment.processing.readers.markdown import markdown_blocks

_MAX_LINE = 1 << 18
_MAX_PARAGRAPH = 1 << 19
# Programs wrap lines at a width in this range; then every line but the last is nearly as long as the longest.
_WRAP_WIDTHS = range(50, 111)
_MIN_WRAPPED_SHARE = 0.75
_LINE_START = re.compile(r"\s|[-*+•–>|#]\s?|\(?\w{1,3}[.)]\s")
_COLUMN_GAP = re.compile(r"\S(?: {3,}|\t)\S")


def open_file(file: BinaryIO, media_type: str, options: ReadingOptions, resources: ReaderResources) -> OpenedDocument:
    to_blocks = markdown_blocks if media_type == MARKDOWN.media_type else text_blocks
    encoding = detect_encoding(file)
    return paginate("text", lambda: to_blocks(_read_lines(file, encoding)), options, resources)


def text_blocks(lines: Iterator[str]) -> Iterator[Block]:
    """Yield paragraphs, which end at blank lines and form feeds."""
    paragraph: list[str] = []
    length = 0
    for line in lines:
        for number, part in enumerate(line.split(PAGE_BREAK)):
            if number or not part.strip() or length > _MAX_PARAGRAPH:
                yield Block(_join_lines(paragraph) + PAGE_BREAK * bool(number))
                paragraph, length = [], 0
            if part.strip():
                paragraph.append(part)
                length += len(part)
    yield Block(_join_lines(paragraph))


def _read_lines(file: BinaryIO, encoding: str) -> Iterator[str]:
    file.seek(0)
    text = TextIOWrapper(file, encoding, errors="replace")
    try:
        yield from (line.rstrip("\n") for line in iter(partial(text.readline, _MAX_LINE), ""))
    finally:
        with suppress(ValueError):  # the consumer may have closed the file
            text.detach()  # otherwise it would close the file


def _join_lines(lines: list[str]) -> str:
    if not _is_wrapped(lines):
        return "\n".join(lines)
    text = lines[0].strip()
    for line in lines[1:]:
        # Lines break only at existing hyphens, because such files come from editors, not from typesetters.
        text += line.strip() if text.endswith("-") and text[-2:-1].isalpha() else " " + line.strip()
    return text


def _is_wrapped(lines: list[str]) -> bool:
    """Whether this is clearly prose wrapped at a width; otherwise line breaks are significant."""
    *full, last = [line.rstrip() for line in lines] or [""]
    if len(full) < 2 and not (full and len(full[0]) > 60):
        return False
    longest = max(map(len, full))
    is_similar = min(map(len, full)) >= _MIN_WRAPPED_SHARE * longest and len(last) <= longest + 5
    has_own_lines = any(_LINE_START.match(line) for line in (*full[1:], last))
    return is_similar and longest in _WRAP_WIDTHS and not has_own_lines and not any(map(_COLUMN_GAP.search, lines))
