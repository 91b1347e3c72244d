"""Decode frames from a child as hostile input: a document may have taken it over. Everything is checked, bounded and cleaned,
or rejected with `ProtocolViolation`.
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
    Figure,
    FigureKind,
    Image,
    Method,
    Page,
    Paragraph,
    ParagraphKind,
    Word,
)
from muniment.processing.readers.errors import Code, Unreadable
from muniment.processing.sandbox.protocol.frames import (
    BOX_SCALE,
    HEAD,
    NUMBERS_A_WORD,
    PAGE_HEAD,
    WORD_NUMBER,
    Kind,
    clean,
)

MAX_JSON_BYTES = 8 << 20


MAX_CHARACTERS = 5_000_000


MAX_WORDS = 500_000


MAX_PARAGRAPHS = 100_000


MAX_FIGURES = 10_000


MAX_SENTENCE = 10_000
"""Characters of a caption, a problem, a source."""


_SHA256 = re.compile("[0-9a-f]{64}")


EnumT = TypeVar("EnumT", Method, ParagraphKind, FigureKind)


class Violation(Exception):
    """A child has sent what no reader of ours sends."""


def unpack_json(body: bytes) -> Any:
    if len(body) > MAX_JSON_BYTES:
        raise Violation("too much JSON")
    try:
        return json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Violation("no JSON") from None


def unpack_page(body: bytes) -> Page:
    """Raises `Violation` and nothing else, whatever the bytes are."""
    try:
        return _unpack(body)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        raise Violation(f"malformed page: {type(error).__name__}") from None


def _unpack(body: bytes) -> Page:
    if len(body) < PAGE_HEAD.size:
        raise Violation("page without its head")
    json_length, words_length = PAGE_HEAD.unpack_from(body)
    words_at = PAGE_HEAD.size + json_length
    text = _text(body[words_at + words_length :])
    rest = unpack_json(body[PAGE_HEAD.size : words_at])
    return Page(
        number=_whole(rest["number"], 1, sys.maxsize),
        text=text,
        method=_one_of(Method, rest["method"]),
        paragraphs=_paragraphs(rest["paragraphs"], len(text)),
        words=_words(body[words_at : words_at + words_length], len(text)),
        figures=_figures(rest["figures"]),
        width=_number(rest["width"], 0, 1e7),
        height=_number(rest["height"], 0, 1e7),
        rotation=_whole(rest["rotation"], 0, 359),
        problem=_sentence(rest["problem"]),
        confidence=_number(rest["confidence"], 0, 1),
    )


def _text(data: bytes) -> str:
    if len(data) > 4 * MAX_CHARACTERS:
        raise Violation("too much text")
    text = data.decode()  # a lone surrogate is no UTF-8 and ends here
    if len(text) > MAX_CHARACTERS:
        raise Violation("too much text")
    return text.replace("\x00", "\ufffd")


def _words(data: bytes, length: int) -> tuple[Word, ...]:
    if len(data) > MAX_WORDS * NUMBERS_A_WORD * 4 or len(data) % (NUMBERS_A_WORD * 4):
        raise Violation("words out of bounds")
    numbers = array(WORD_NUMBER)
    numbers.frombytes(data)
    if sys.byteorder != "little":
        numbers.byteswap()
    starts, ends = numbers[0::NUMBERS_A_WORD], numbers[1::NUMBERS_A_WORD]
    _check_spans(starts, ends, length)
    sides = ([number / BOX_SCALE for number in numbers[side::NUMBERS_A_WORD]] for side in range(2, NUMBERS_A_WORD))
    return tuple(map(Word, starts, ends, zip(*sides, strict=True)))


def _paragraphs(given: Any, length: int) -> tuple[Paragraph, ...]:
    rows = _rows(given, MAX_PARAGRAPHS)
    paragraphs = tuple(
        Paragraph(_whole(start, 0, length), _whole(end, 0, length), _one_of(ParagraphKind, kind), _box(box))
        for start, end, kind, box in rows
    )
    _check_spans([each.start for each in paragraphs], [each.end for each in paragraphs], length)
    return paragraphs


def _figures(given: Any) -> tuple[Figure, ...]:
    return tuple(_figure(figure) for figure in _rows(given, MAX_FIGURES))


def _figure(given: Any) -> Figure:
    if not isinstance(given["sha256"], str) or not _SHA256.fullmatch(given["sha256"]):
        raise Violation("not a digest")
    return Figure(
        kind=_one_of(FigureKind, given["kind"]),
        sha256=given["sha256"],
        width_px=_whole(given["width_px"], 0, MAX_FIGURE_SIDE),
        height_px=_whole(given["height_px"], 0, MAX_FIGURE_SIDE),
        box=_box(given["box"]),
        caption=_sentence(given["caption"]),
        source=_sentence(given["source"]),
    )


def _check_spans(starts: Sequence[int], ends: Sequence[int], length: int) -> None:
    """One after the other, none backwards, all inside the text."""
    if not starts:
        return
    is_ordered = all(map(operator.le, starts, ends)) and all(map(operator.le, ends, starts[1:]))
    if not is_ordered or starts[0] < 0 or ends[-1] > length:
        raise Violation("spans out of order")


def _rows(given: Any, most: int) -> Iterable[Any]:
    if not isinstance(given, list) or len(given) > most:
        raise Violation("too many rows")
    return given


def _box(given: Any) -> Box | None:
    if given is None:
        return None
    left, top, right, bottom = (_number(side, -1e7, 1e7) for side in given)
    if left is None or top is None or right is None or bottom is None:
        raise Violation("box without a side")
    return left, top, right, bottom


def _number(given: Any, least: float, most: float) -> float | None:
    if given is None:
        return None
    if type(given) not in (int, float) or not math.isfinite(given) or not least <= given <= most:
        raise Violation("number out of bounds")
    return float(given)


def _whole(given: Any, least: int, most: int) -> int:
    if type(given) is not int or not least <= given <= most:
        raise Violation("number out of bounds")
    return given


def _sentence(given: Any) -> str | None:
    if given is None:
        return None
    if not isinstance(given, str):
        raise Violation("not a sentence")
    return clean(given[:MAX_SENTENCE])


def _one_of(kind: type[EnumT], given: Any) -> EnumT:
    return kind(given)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


MAX_FRAME_BYTES = 64 << 20


MAX_PAGES = 1_000_000


MAX_MESSAGE = 1000


_RECEIVE_BYTES = 1 << 18


_SLOW_BYTES = 1 << 18
"""A longer page is unpacked in a thread: the event loop has others to serve."""


_PNG = re.compile(rb"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR(....)(....)", re.DOTALL)


_PLACE = re.compile(r"[\w.<>-]{1,80}:\d{1,6} \w{1,80}", re.ASCII)


class Gone(Exception):
    """The child has closed its output."""


async def receive_frame(connection: socket.socket) -> tuple[Kind, bytes]:
    """Wait for one frame. `Gone` or `Violation`."""
    kind, length = HEAD.unpack(await _receive(connection, HEAD.size))
    if length > MAX_FRAME_BYTES:
        raise Violation("frame too long")
    try:
        return Kind(kind), await _receive(connection, length)
    except ValueError:
        raise Violation("unknown frame") from None


async def _receive(connection: socket.socket, length: int) -> bytes:
    loop = asyncio.get_running_loop()
    parts = []
    while length:
        part = await loop.sock_recv(connection, min(length, _RECEIVE_BYTES))
        if not part:
            raise Gone
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


async def page_of(body: bytes) -> Page:
    return await asyncio.to_thread(unpack_page, body) if len(body) > _SLOW_BYTES else unpack_page(body)


def total_pages_of(body: bytes) -> int:
    total = _field(body, "total_pages")
    if type(total) is not int or not 0 <= total <= MAX_PAGES:
        raise Violation("number of pages out of bounds")
    return total


def image_of(body: bytes) -> Image:
    if (head := _PNG.match(body)) is None:
        raise Violation("not a PNG")
    width, height = (struct.unpack(">I", side)[0] for side in head.groups())
    return Image(body, width, height)


def protections_of(body: bytes) -> dict[str, bool]:
    given = unpack_json(body)
    if not isinstance(given, dict) or not all(isinstance(value, bool) for value in given.values()):
        raise Violation("not protections")
    return {clean(name): value for name, value in given.items()}


def failure_of(body: bytes) -> Unreadable:
    message = _field(body, "message")
    if not isinstance(message, str) or not message.strip():
        raise Violation("failure without a message")
    try:
        return Unreadable(Code(_field(body, "code")), clean(message[:MAX_MESSAGE]))
    except ValueError:
        raise Violation("unknown failure") from None


def place_of(body: bytes) -> str:
    """Where a reader crashed; it goes to the log, so it must look like a place and nothing else."""
    place = _field(body, "where")
    if not isinstance(place, str) or not _PLACE.fullmatch(place):
        raise Violation("not a place")
    return place


def _field(body: bytes, name: str) -> Any:
    given = unpack_json(body)
    if not isinstance(given, dict) or name not in given:
        raise Violation(f"no {name}")
    return given[name]
