"""Frames from a child. It may have been taken over by the document: nothing it says is believed unchecked."""

import asyncio
import re
import socket
import struct
from typing import Any

from muniment.processing.readers.contract import Code, Image, Page, Unreadable
from muniment.processing.sandbox.pages_received import Violation, unpack_json, unpack_page
from muniment.processing.sandbox.wire import HEAD, Kind, clean

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
