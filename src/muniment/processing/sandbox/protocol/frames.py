"""Frames that a child writes to its output: a type, a length and a body. `decoding` is the other side."""

import json
import re
import socket
import struct
import sys
from array import array
from collections.abc import Mapping
from dataclasses import asdict
from enum import Enum
from typing import Any

from muniment.processing.readers.contract import Box, ExtractedPage, Paragraph, RenderedImage
from muniment.processing.readers.errors import UnreadableCode

FRAME_HEADER = struct.Struct(">cI")
PAGE_HEADER = struct.Struct(">II")
"""Lengths of the JSON and of the words; the rest is the text."""
NUMBERS_PER_WORD = 6
WORD_NUMBER = "i"
BOX_SCALE = 100

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class FrameType(Enum):
    OPENED = b"O"
    PAGE = b"P"
    IMAGE = b"I"
    PROTECTIONS = b"X"
    FAILED = b"F"
    CRASHED = b"C"
    DONE = b"D"


def replace_unstorable(text: str) -> str:
    """Replace characters that databases and UTF-8 cannot store. The length is unchanged, so that spans stay valid."""
    return _UNSTORABLE.sub("\ufffd", text)


class FrameWriter:
    """Writes frames to the child's output. Writing blocks while the parent does not read."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def opened(self, total_pages: int) -> None:
        self._send_json(FrameType.OPENED, {"total_pages": total_pages})

    def page(self, page: ExtractedPage) -> None:
        self._send(FrameType.PAGE, encode_page(page))

    def image(self, image: RenderedImage) -> None:
        self._send(FrameType.IMAGE, image.png)

    def protections(self, protections: Mapping[str, bool]) -> None:
        self._send_json(FrameType.PROTECTIONS, protections)

    def failed(self, code: UnreadableCode, message: str) -> None:
        self._send_json(FrameType.FAILED, {"code": code, "message": replace_unstorable(message)})

    def crashed(self, where: str) -> None:
        """Report a crash.

        `where` is a code location and the name of an error, never a message, which may quote the document.
        """
        self._send_json(FrameType.CRASHED, {"where": where})

    def done(self) -> None:
        self._send(FrameType.DONE, b"")

    def _send_json(self, frame_type: FrameType, value: Mapping[str, Any]) -> None:
        self._send(frame_type, json.dumps(value).encode())

    def _send(self, frame_type: FrameType, body: bytes) -> None:
        self._connection.sendall(FRAME_HEADER.pack(frame_type.value, len(body)) + body)


def encode_page(page: ExtractedPage) -> bytes:
    rest = {
        "number": page.number,
        "method": page.method,
        "paragraphs": [_paragraph_as_json(paragraph) for paragraph in page.paragraphs],
        "figures": [asdict(figure) for figure in page.figures],
        "width": page.width,
        "height": page.height,
        "rotation": page.rotation,
        "problem": page.problem,
        "confidence": page.confidence,
    }
    head, words = json.dumps(rest).encode(), _encode_words(page)
    return b"".join((PAGE_HEADER.pack(len(head), len(words)), head, words, replace_unstorable(page.text).encode()))


def _paragraph_as_json(paragraph: Paragraph) -> tuple[int, int, str, Box | None]:
    return paragraph.start, paragraph.end, paragraph.kind, paragraph.box


def _encode_words(page: ExtractedPage) -> bytes:
    scale = BOX_SCALE
    numbers = array(
        WORD_NUMBER,
        [
            number
            for start, end, (left, top, right, bottom) in page.words
            for number in (
                start,
                end,
                round(left * scale),
                round(top * scale),
                round(right * scale),
                round(bottom * scale),
            )
        ],
    )
    if sys.byteorder != "little":
        numbers.byteswap()
    return numbers.tobytes()
