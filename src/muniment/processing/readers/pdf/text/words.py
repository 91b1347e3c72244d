"""Extract the words of a page from PDFium, each in a frame in which it is upright, and their fonts."""

import ctypes
import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from pypdfium2 import PdfTextPage, raw

from muniment.processing.readers.pdf.geometry import PageGeometry, rotate_box

HYPHEN_AT_LINE_END = "\ufffe"
"""PDFium's character for a hyphen at a line end; it omits the line end then."""

OBLIQUE = 4
"""Direction of text that is not parallel to a side, such as a watermark."""

WIDE_GAP = 0.85
"""In units of the text height: a wider gap may separate columns or cells."""

MAX_COORDINATE = 400_000.0
"""Points, or 140 meters. No page is larger, and coordinates beyond it do not fit into a box."""

_WORD = re.compile(f"[^\\s{HYPHEN_AT_LINE_END}]*{HYPHEN_AT_LINE_END}|[^\\s{HYPHEN_AT_LINE_END}]+")
_QUARTER = math.pi / 2
_ANGLE_TOLERANCE = math.radians(5)


class PdfWord(NamedTuple):
    """A word with its box (left, top, right, bottom) in the upright frame, and the index of its first character."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    char_index: int
    is_spaced: bool = False
    """Whether a single space was typed before it, however wide the gap, as in justified lines."""


def read_characters(page: PdfTextPage) -> str:
    """Return one character per PDFium index, so that positions are indexes; some are halves of a UTF-16 pair."""
    count = page.count_chars()
    text: str = page.get_text_range() if count else ""
    if len(text) == count:
        return text
    codes = (raw.FPDFText_GetUnicode(page, index) for index in range(count))
    return "".join(chr(code) if 0 < code <= 0x10FFFF else " " for code in codes)


def extract_words(page: PdfTextPage, text: str, geometry: PageGeometry) -> dict[int, list[PdfWord]]:
    """Return words by text direction (clockwise quarters in user space, or `OBLIQUE`), in drawing order.

    Words outside of the visible page are omitted.
    """
    by_direction: dict[int, list[PdfWord]] = {}
    handle, line_end, direction, middle = page.raw, -1, 0, math.nan
    page_left, page_top, page_right, page_bottom = geometry.visible_box
    for start, end, left, bottom, right, top in _raw_words(page, text):
        if right < page_left or left > page_right or top < page_bottom or bottom > page_top:
            continue
        # The direction is assumed to be the same while words stay at one height.
        if start > line_end or not bottom < middle < top:
            line_end = text.find("\n", start)
            line_end = len(text) if line_end < 0 else line_end
            direction = _direction(raw.FPDFText_GetCharAngle(handle, start))
            words = by_direction.setdefault(direction, [])
        middle = (bottom + top) / 2
        box = left - page_left, page_top - top, right - page_left, page_top - bottom
        # A letter larger than any page, or without a position. Left and top are never beyond right and bottom.
        if not (box[0] > -MAX_COORDINATE < box[1] and box[2] < MAX_COORDINATE > box[3]):
            continue
        if 0 < direction < OBLIQUE:
            box = rotate_box(box, -direction, geometry.unrotated_width, geometry.unrotated_height)
        is_spaced = (
            bool(words)
            and box[0] - words[-1].right > WIDE_GAP * (box[3] - box[1])
            and _is_typed_space(handle, text, start - 1)
        )
        words.append(PdfWord(text[start:end], *box, start, is_spaced))
    return by_direction


def _is_typed_space(handle: Any, text: str, index: int) -> bool:
    """Whether the space is in the file: PDFium adds spaces at gaps."""
    if index < 1 or text[index] != " " or text[index - 1].isspace():
        return False
    return bool(raw.FPDFText_IsGenerated(handle, index) == 0)


_NUMBERS_PER_BOX = 4
# PDFium's function with plain addresses as parameters: it is called twice for each word, and half of the time would be
# spent on checking pointers.
_read_loose_box = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)(
    ctypes.cast(raw.FPDFText_GetLooseCharBox, ctypes.c_void_p).value or 0
)


def _raw_words(page: PdfTextPage, text: str) -> Iterator[tuple[int, int, float, float, float, float]]:
    """Yield start, end, left, bottom, right and top of each word."""
    spans = [match.span() for match in _WORD.finditer(text)]
    # The boxes of the first and the last character of each word, as PDFium writes them: left, top, right, bottom.
    boxes = (ctypes.c_float * (2 * _NUMBERS_PER_BOX * len(spans)))()
    handle, address = ctypes.cast(page.raw, ctypes.c_void_p).value, ctypes.addressof(boxes)
    size = ctypes.sizeof(ctypes.c_float) * _NUMBERS_PER_BOX
    has_box = []
    for start, end in spans:
        has_first = _read_loose_box(handle, start, address)
        if end - start == 1 or not _read_loose_box(handle, end - 1, address + size):
            ctypes.memmove(address + size, address, size)
        has_box.append(has_first)
        address += 2 * size
    numbers = iter(boxes)
    for (start, end), is_known, left, top, right, bottom, last_left, last_top, last_right, last_bottom in zip(
        spans, has_box, *([numbers] * 2 * _NUMBERS_PER_BOX), strict=True
    ):
        if is_known:
            # Right-to-left text begins on the right, rotated text anywhere.
            yield (
                start,
                end,
                left if left < last_left else last_left,
                bottom if bottom < last_bottom else last_bottom,
                right if right > last_right else last_right,
                top if top > last_top else last_top,
            )


def _direction(angle: float) -> int:
    quarters = round(angle / _QUARTER)
    return quarters % 4 if abs(angle - quarters * _QUARTER) < _ANGLE_TOLERANCE else OBLIQUE


_find_text_object = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)(
    ctypes.cast(raw.FPDFText_GetTextObject, ctypes.c_void_p).value or 0
)


class CharacterFont(NamedTuple):
    size: float
    """In points as displayed, rounded to a tenth."""
    is_bold: bool


class Fonts:
    """Fonts of the characters of a page. All characters of a text object, usually a line, have the same."""

    def __init__(self, page: PdfTextPage) -> None:
        self._page = page
        self._address = ctypes.cast(page.raw, ctypes.c_void_p).value
        self._matrix: Any = raw.FS_MATRIX()
        self._name = ctypes.create_string_buffer(256)
        self._flags = ctypes.c_int()
        self._known: dict[int, CharacterFont] = {}

    def at(self, index: int) -> CharacterFont:
        """Return the font of the character at an index."""
        text_object = _find_text_object(self._address, index)
        if text_object is None:  # PDFium has added the character
            return CharacterFont(self._size(index), self._is_bold(index))
        font = self._known.get(text_object)
        if font is None:
            font = self._known[text_object] = CharacterFont(self._size(index), self._is_bold(index))
        return font

    def _size(self, index: int) -> float:
        size = float(raw.FPDFText_GetFontSize(self._page, index))
        if raw.FPDFText_GetMatrix(self._page, index, self._matrix):
            size *= math.hypot(self._matrix.c, self._matrix.d)
        return round(abs(size), 1)

    def _is_bold(self, index: int) -> bool:
        if raw.FPDFText_GetFontWeight(self._page, index) >= 600:
            return True
        length = raw.FPDFText_GetFontInfo(self._page, index, self._name, len(self._name), self._flags)
        name = self._name.raw[: min(length, len(self._name))].lower()
        return any(weight in name for weight in (b"bold", b"black", b"heavy", b"cmbx", b"sfbx"))
