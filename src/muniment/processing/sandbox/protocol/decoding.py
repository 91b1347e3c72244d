"""Decode frames from a child as hostile input, because a document may have taken the child over.

Everything is checked, bounded and cleaned, or rejected with `ProtocolViolation`.
"""

import asyncio
import json
import math
import operator
import re
import socket
import struct
import sys
from array import array
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn, TypeVar

from muniment.processing.readers.contract import (
    MAX_FIGURE_SIDE,
    Box,
    ExtractedPage,
    ExtractionMethod,
    Figure,
    FigureKind,
    Paragraph,
    ParagraphKind,
    RenderedImage,
    Word,
)
from muniment.processing.readers.errors import Unreadable, UnreadableCode
from muniment.processing.sandbox.protocol.frames import (
    BOX_SCALE,
    FRAME_HEADER,
    NUMBERS_PER_WORD,
    PAGE_HEADER,
    WORD_NUMBER,
    FrameType,
    replace_unstorable,
)

MAX_JSON_BYTES = 8 << 20


MAX_CHARACTERS = 5_000_000


MAX_WORDS = 500_000


MAX_PARAGRAPHS = 100_000


MAX_FIGURES = 10_000


MAX_STRING_CHARACTERS = 10_000
"""Maximum length of a caption, problem or source."""


_SHA256 = re.compile("[0-9a-f]{64}")


EnumT = TypeVar("EnumT", ExtractionMethod, ParagraphKind, FigureKind)


class ProtocolViolation(Exception):
    """A child has sent something that no reader of ours sends."""


class OutputTooLarge(ProtocolViolation):
    """A child has sent more than a page may hold. The file may be sound and only too large."""

    def __init__(self, limit: str) -> None:
        """Name what was exceeded, as part of the sentence "A page of this file has more than …"."""
        super().__init__(f"more than {limit}")
        self.limit = limit


def decode_json(body: bytes) -> Any:
    if len(body) > MAX_JSON_BYTES:
        raise OutputTooLarge(f"{MAX_JSON_BYTES >> 20} MB of paragraphs and figures")
    try:
        return json.loads(body, parse_constant=_reject_constant)
    except (ValueError, RecursionError):
        raise ProtocolViolation("no JSON") from None


def decode_page(body: bytes) -> ExtractedPage:
    """Decode a page. Raise `ProtocolViolation` and nothing else, whatever the bytes are."""
    try:
        return _decode_page(body)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        raise ProtocolViolation(f"malformed page: {type(error).__name__}") from None


def _decode_page(body: bytes) -> ExtractedPage:
    if len(body) < PAGE_HEADER.size:
        raise ProtocolViolation("page without its head")
    json_length, words_length = PAGE_HEADER.unpack_from(body)
    words_start = PAGE_HEADER.size + json_length
    text = _text(body[words_start + words_length :])
    rest = decode_json(body[PAGE_HEADER.size : words_start])
    return ExtractedPage(
        number=_int(rest["number"], 1, sys.maxsize),
        text=text,
        method=_enum_member(ExtractionMethod, rest["method"]),
        paragraphs=_paragraphs(rest["paragraphs"], len(text)),
        words=_words(body[words_start : words_start + words_length], len(text)),
        figures=_figures(rest["figures"]),
        width=_float(rest["width"], 0, 1e7),
        height=_float(rest["height"], 0, 1e7),
        rotation=_int(rest["rotation"], 0, 359),
        problem=_string(rest["problem"]),
        confidence=_float(rest["confidence"], 0, 1),
    )


def _text(data: bytes) -> str:
    if len(data) > 4 * MAX_CHARACTERS:
        raise OutputTooLarge(f"{MAX_CHARACTERS:,} characters")
    text = data.decode()  # a lone surrogate is not valid UTF-8 and fails here
    if len(text) > MAX_CHARACTERS:
        raise OutputTooLarge(f"{MAX_CHARACTERS:,} characters")
    return text.replace("\x00", "\ufffd")


def _words(data: bytes, length: int) -> tuple[Word, ...]:
    if len(data) % (NUMBERS_PER_WORD * 4):
        raise ProtocolViolation("words out of bounds")
    if len(data) > MAX_WORDS * NUMBERS_PER_WORD * 4:
        raise OutputTooLarge(f"{MAX_WORDS:,} words")
    numbers = array(WORD_NUMBER)
    numbers.frombytes(data)
    if sys.byteorder != "little":
        numbers.byteswap()
    starts, ends = numbers[0::NUMBERS_PER_WORD], numbers[1::NUMBERS_PER_WORD]
    _check_spans(starts, ends, length)
    sides = ([number / BOX_SCALE for number in numbers[side::NUMBERS_PER_WORD]] for side in range(2, NUMBERS_PER_WORD))
    return tuple(map(Word, starts, ends, zip(*sides, strict=True)))


def _paragraphs(given: Any, length: int) -> tuple[Paragraph, ...]:
    rows = _list_of_rows(given, MAX_PARAGRAPHS, "paragraphs")
    paragraphs = tuple(
        Paragraph(_int(start, 0, length), _int(end, 0, length), _enum_member(ParagraphKind, kind), _box(box))
        for start, end, kind, box in rows
    )
    _check_spans([each.start for each in paragraphs], [each.end for each in paragraphs], length)
    return paragraphs


def _figures(given: Any) -> tuple[Figure, ...]:
    return tuple(_figure(figure) for figure in _list_of_rows(given, MAX_FIGURES, "figures"))


def _figure(given: Any) -> Figure:
    if not isinstance(given["sha256"], str) or not _SHA256.fullmatch(given["sha256"]):
        raise ProtocolViolation("not a digest")
    return Figure(
        kind=_enum_member(FigureKind, given["kind"]),
        sha256=given["sha256"],
        width_px=_int(given["width_px"], 0, MAX_FIGURE_SIDE),
        height_px=_int(given["height_px"], 0, MAX_FIGURE_SIDE),
        box=_box(given["box"]),
        caption=_string(given["caption"]),
        source=_string(given["source"]),
    )


def _check_spans(starts: Sequence[int], ends: Sequence[int], length: int) -> None:
    """Check that spans are in order, not reversed, and inside the text."""
    if not starts:
        return
    is_ordered = all(map(operator.le, starts, ends)) and all(map(operator.le, ends, starts[1:]))
    if not is_ordered or starts[0] < 0 or ends[-1] > length:
        raise ProtocolViolation("spans out of order")


def _list_of_rows(given: Any, max_rows: int, what: str) -> Iterable[Any]:
    if not isinstance(given, list):
        raise ProtocolViolation("no rows")
    if len(given) > max_rows:
        raise OutputTooLarge(f"{max_rows:,} {what}")
    return given


def _box(given: Any) -> Box | None:
    if given is None:
        return None
    left, top, right, bottom = (_float(side, -1e7, 1e7) for side in given)
    if left is None or top is None or right is None or bottom is None:
        raise ProtocolViolation("box without a side")
    return left, top, right, bottom


def _float(given: Any, minimum: float, maximum: float) -> float | None:
    if given is None:
        return None
    if type(given) not in (int, float) or not math.isfinite(given) or not minimum <= given <= maximum:
        raise ProtocolViolation("number out of bounds")
    return float(given)


def _int(given: Any, minimum: int, maximum: int) -> int:
    if type(given) is not int or not minimum <= given <= maximum:
        raise ProtocolViolation("number out of bounds")
    return given


def _string(given: Any) -> str | None:
    if given is None:
        return None
    if not isinstance(given, str):
        raise ProtocolViolation("not a sentence")
    return replace_unstorable(given[:MAX_STRING_CHARACTERS])


def _enum_member(kind: type[EnumT], given: Any) -> EnumT:
    return kind(given)


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(name)


MAX_FRAME_BYTES = 64 << 20


MAX_PAGES = 1_000_000


MAX_MESSAGE_CHARACTERS = 1000


_RECEIVE_BYTES = 1 << 18


_OFF_LOOP_BYTES = 1 << 18
"""Longer pages are decoded in a thread, to keep the event loop responsive."""


_PNG = re.compile(rb"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR(....)(....)", re.DOTALL)


_CRASH_LOCATION = re.compile(r"[\w.<>-]{1,80}:\d{1,6} \w{1,80}", re.ASCII)


class OutputClosed(Exception):
    """The child has closed its output."""


async def receive_frame(connection: socket.socket) -> tuple[FrameType, bytes]:
    """Receive one frame, or raise `OutputClosed` or `ProtocolViolation`."""
    kind, length = FRAME_HEADER.unpack(await _receive(connection, FRAME_HEADER.size))
    if length > MAX_FRAME_BYTES:
        raise OutputTooLarge(f"{MAX_FRAME_BYTES >> 20} MB of content")
    try:
        return FrameType(kind), await _receive(connection, length)
    except ValueError:
        raise ProtocolViolation("unknown frame") from None


async def _receive(connection: socket.socket, length: int) -> bytes:
    loop = asyncio.get_running_loop()
    parts = []
    while length:
        part = await loop.sock_recv(connection, min(length, _RECEIVE_BYTES))
        if not part:
            raise OutputClosed
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


async def decode_page_off_loop(body: bytes) -> ExtractedPage:
    return await asyncio.to_thread(decode_page, body) if len(body) > _OFF_LOOP_BYTES else decode_page(body)


def decode_total_pages(body: bytes) -> int:
    total = _field(body, "total_pages")
    if type(total) is not int or not 0 <= total <= MAX_PAGES:
        raise ProtocolViolation("number of pages out of bounds")
    return total


def decode_image(body: bytes) -> RenderedImage:
    if (head := _PNG.match(body)) is None:
        raise ProtocolViolation("not a PNG")
    width, height = (struct.unpack(">I", side)[0] for side in head.groups())
    return RenderedImage(body, width, height)


def decode_protections(body: bytes) -> dict[str, bool]:
    given = decode_json(body)
    if not isinstance(given, dict) or not all(isinstance(value, bool) for value in given.values()):
        raise ProtocolViolation("not protections")
    return {replace_unstorable(name): value for name, value in given.items()}


def decode_failure(body: bytes) -> Unreadable:
    message = _field(body, "message")
    if not isinstance(message, str) or not message.strip():
        raise ProtocolViolation("failure without a message")
    try:
        return Unreadable(UnreadableCode(_field(body, "code")), replace_unstorable(message[:MAX_MESSAGE_CHARACTERS]))
    except ValueError:
        raise ProtocolViolation("unknown failure") from None


def decode_crash_location(body: bytes) -> str:
    """Decode where a reader crashed. It is logged, so it must look like a code location and nothing else."""
    location = _field(body, "where")
    if not isinstance(location, str) or not _CRASH_LOCATION.fullmatch(location):
        raise ProtocolViolation("not a location")
    return location


def _field(body: bytes, name: str) -> Any:
    given = decode_json(body)
    if not isinstance(given, dict) or name not in given:
        raise ProtocolViolation(f"no {name}")
    return given[name]
