"""Everything a child can send that no reader of ours sends."""

import json
import struct
from array import array
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.processing.readers.contract import ExtractedPage, ExtractionMethod, Paragraph, ParagraphKind, Word
from muniment.processing.readers.errors import Unreadable, UnreadableCode
from muniment.processing.sandbox.client import Sandbox
from muniment.processing.sandbox.protocol.decoding import (
    MAX_CHARACTERS,
    MAX_FIGURES,
    MAX_FRAME_BYTES,
    MAX_JSON_BYTES,
    MAX_PARAGRAPHS,
    MAX_WORDS,
    ProtocolViolation,
    decode_crash_location,
    decode_failure,
    decode_image,
    decode_page,
    decode_total_pages,
)
from muniment.processing.sandbox.protocol.frames import FRAME_HEADER, PAGE_HEADER, FrameType, encode_page
from tests.processing.sandbox.conftest import ask, read
from tests.processing.sandbox.jobs import PNG

FIGURE = {"kind": "picture", "sha256": "0" * 64, "width_px": 1, "height_px": 1}
FIGURE |= {"box": None, "caption": None, "source": None}
SOUND: dict[str, Any] = {"number": 1, "method": "text", "paragraphs": [], "figures": [FIGURE]}
SOUND |= {"width": 10, "height": 10.5, "rotation": 90, "problem": None, "confidence": None}


def packed(text: bytes = b"some text", words: tuple[int, ...] = (), **changes: Any) -> bytes:
    rest, numbers = json.dumps({**SOUND, **changes}).encode(), array("i", words).tobytes()
    return PAGE_HEADER.pack(len(rest), len(numbers)) + rest + numbers + text


def frame(kind: FrameType, body: bytes) -> bytes:
    return FRAME_HEADER.pack(kind.value, len(body)) + body


def opened(total: Any) -> bytes:
    return frame(FrameType.OPENED, json.dumps({"total_pages": total}).encode())


HOSTILE = {
    "unknown kind": b"?\0\0\0\0",
    "page before it is opened": frame(FrameType.PAGE, packed()),
    "no number of pages": opened("many"),
    "negative number of pages": opened(-1),
    "true pages": opened(True),
    "gap": opened(2) + frame(FrameType.PAGE, packed(number=2)),
    "the same page twice": opened(2) + frame(FrameType.PAGE, packed()) * 2,
    "too few pages": opened(2) + frame(FrameType.PAGE, packed()) + frame(FrameType.DONE, b""),
    "too many pages": opened(1) + frame(FrameType.PAGE, packed()) * 2,
    "opened twice": opened(1) + opened(1),
    "picture instead of a page": opened(1) + frame(FrameType.IMAGE, PNG),
    "unknown failure": frame(FrameType.FAILED, b'{"code": "bored", "message": "No."}'),
    "line break for the log": frame(FrameType.CRASHED, b'{"where": "a.py:1 E\\nroot logged in"}'),
}


@pytest.mark.parametrize("said", HOSTILE.values(), ids=HOSTILE.keys())
async def test_hostile_child_is_killed_and_its_file_called_corrupt(sandbox: Sandbox, said: bytes) -> None:
    with pytest.raises(Unreadable) as caught:
        await read(sandbox, "say", said)
    assert caught.value.code is UnreadableCode.CORRUPT
    assert await ask(sandbox, "echo", "still here") == "still here"


TOO_LARGE = {
    "frame": (FRAME_HEADER.pack(b"P", MAX_FRAME_BYTES + 1), "64 MB of content"),
    "figures": (frame(FrameType.PAGE, packed(figures=[FIGURE] * (MAX_FIGURES + 1))), "10,000 figures"),
    "paragraphs": (
        frame(FrameType.PAGE, packed(paragraphs=[[0, 0, "text", None]] * (MAX_PARAGRAPHS + 1))),
        "100,000 paragraphs",
    ),
    "JSON": (frame(FrameType.PAGE, packed(problem="x" * MAX_JSON_BYTES)), "8 MB of paragraphs and figures"),
    "characters": (frame(FrameType.PAGE, packed(text=b"x" * (MAX_CHARACTERS + 1))), "5,000,000 characters"),
    "bytes of text": (frame(FrameType.PAGE, packed(text=b"x" * (4 * MAX_CHARACTERS + 1))), "5,000,000 characters"),
    "words": (frame(FrameType.PAGE, packed(words=(0,) * 6 * (MAX_WORDS + 1))), "500,000 words"),
}


@pytest.mark.parametrize(("said", "limit"), TOO_LARGE.values(), ids=TOO_LARGE.keys())
async def test_a_page_over_a_limit_is_called_too_large(sandbox: Sandbox, said: bytes, limit: str) -> None:
    with pytest.raises(Unreadable) as caught:
        await read(sandbox, "say", opened(1) + said)
    assert caught.value.code is UnreadableCode.TOO_LARGE
    assert caught.value.message == f"A page of this file has more than {limit}. Split it and upload the parts."
    assert await ask(sandbox, "echo", "still here") == "still here"


def test_a_sound_page_is_taken() -> None:
    page = decode_page(packed(words=(0, 4, 100, 250, 300, 400), paragraphs=[[0, 9, "heading", [1, 2, 3, 4]]]))
    assert page.words == (Word(0, 4, (1.0, 2.5, 3.0, 4.0)),)
    assert page.paragraphs == (Paragraph(0, 9, ParagraphKind.HEADING, (1, 2, 3, 4)),)
    assert page.text == "some text"


WRONG: dict[str, dict[str, Any]] = {
    "number as text": {"number": "1"},
    "number zero": {"number": 0},
    "method": {"method": "guess"},
    "method as a list": {"method": []},
    "paragraphs as an object": {"paragraphs": {"a": 1}},
    "paragraph behind the text": {"paragraphs": [[0, 10, "text", None]]},
    "paragraph backwards": {"paragraphs": [[4, 2, "text", None]]},
    "paragraphs overlapping": {"paragraphs": [[0, 4, "text", None], [3, 5, "text", None]]},
    "paragraph of an unknown kind": {"paragraphs": [[0, 4, "poem", None]]},
    "short paragraph": {"paragraphs": [[0, 4]]},
    "box with three sides": {"paragraphs": [[0, 4, "text", [1, 2, 3]]]},
    "box of words": {"paragraphs": [[0, 4, "text", "abcd"]]},
    "box without end": {"paragraphs": [[0, 4, "text", [0, 0, 1e300, 1]]]},
    "box with nothing": {"paragraphs": [[0, 4, "text", [0, None, 1, 1]]]},
    "infinite width": {"width": float("inf")},
    "width that is none": {"width": float("nan")},
    "negative height": {"height": -1},
    "rotation": {"rotation": 9.5},
    "confidence": {"confidence": 1.01},
    "problem": {"problem": ["no sentence"]},
    "digest in capitals": {"figures": [FIGURE | {"sha256": "A" * 64}]},
    "digest with a line break": {"figures": [FIGURE | {"sha256": "0" * 64 + "\n"}]},
    "figure as text": {"figures": ["figure"]},
    "huge picture": {"figures": [FIGURE | {"width_px": 10**12}]},
    "words behind the text": {"words": (0, 10, 0, 0, 0, 0)},
    "words before the text": {"words": (-1, 2, 0, 0, 0, 0)},
    "words out of order": {"words": (4, 5, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0)},
    "a word without a side": {"words": (0, 4, 0, 0, 0)},
    "no UTF-8": {"text": b"\xff"},
    "half a character": {"text": b"\xed\xa0\x80"},
}


@pytest.mark.parametrize("changes", WRONG.values(), ids=WRONG.keys())
def test_a_page_that_cannot_be_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ProtocolViolation):
        decode_page(packed(**changes))


@pytest.mark.parametrize("name", SOUND)
def test_a_page_with_a_part_missing_is_refused(name: str) -> None:
    rest = json.dumps({key: value for key, value in SOUND.items() if key != name}).encode()
    with pytest.raises(ProtocolViolation):
        decode_page(PAGE_HEADER.pack(len(rest), 0) + rest)


@pytest.mark.parametrize("rest", [b"[" * 100_000, b"9" * 10_000, b'"', b"", b"null", b"[]", b'{"number": NaN}'])
def test_json_that_breaks_parsers_is_refused(rest: bytes) -> None:
    with pytest.raises(ProtocolViolation):
        decode_page(PAGE_HEADER.pack(len(rest), 0) + rest)


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_but_a_violation(body: bytes) -> None:
    for unpack in (decode_page, decode_image, decode_failure, decode_crash_location, decode_total_pages):
        with pytest.raises(ProtocolViolation):
            unpack(body)


def test_characters_that_no_database_holds_are_replaced_one_by_one() -> None:
    page = ExtractedPage(1, "a\0b\ud800c", ExtractionMethod.TEXT, (Paragraph(0, 5),), problem="nul \0")
    assert decode_page(encode_page(page)).text == "a\ufffdb\ufffdc"
    assert decode_page(encode_page(page)).problem == "nul \ufffd"
    assert decode_page(packed(text=b"a\0b")).text == "a\ufffdb"


def test_size_of_a_picture_is_what_the_picture_says() -> None:
    image = decode_image(PNG)
    assert (image.width_px, image.height_px) == struct.unpack(">II", PNG[16:24]) == (3, 2)
