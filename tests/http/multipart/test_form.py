import tracemalloc
from contextlib import suppress
from itertools import chain, pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from muniment.http.multipart.form import IncomingForm
from muniment.http.multipart.headers import MalformedUpload
from tests.http.multipart.forms import BOUNDARY, CONTENT_TYPE, END, PART, Received, Sender, a_field, a_file, receive


async def test_fields_in_front_of_and_behind_the_file_are_read() -> None:
    received = await receive(a_field("a", "één") + a_file(b"%PDF") + a_field("b", "") + END)
    assert received == Received(PART, b"%PDF", {"a": "één", "b": ""})


async def test_fields_in_front_of_the_file_are_there_before_its_bytes() -> None:
    form = IncomingForm(Sender([a_field("a", "1") + a_file(b"") + a_field("b", "2") + END]), CONTENT_TYPE)
    await form.next_file()
    assert form.fields == {"a": "1"}


async def test_a_form_without_a_file_has_its_fields() -> None:
    assert await receive(a_field("a", "1") + END) == Received(None, b"", {"a": "1"})


async def test_an_empty_form_is_empty() -> None:
    assert await receive(END) == Received()


async def test_text_around_the_form_is_ignored() -> None:
    around = b"This is a form:\r\n" + a_file(b"1") + END + b"\r\nand this is not --" + END
    assert await receive(around) == Received(PART, b"1")


async def test_a_file_may_contain_what_looks_like_a_boundary() -> None:
    content = f"\r\n--{BOUNDARY[:-1]}\r\n--{BOUNDARY}x\r\n--{BOUNDARY}-\r\n\r\r\n--".encode()
    assert (await receive(a_file(content) + END)).content == content


async def test_nothing_is_taken_from_the_sender_before_it_is_asked_for() -> None:
    sender = Sender([a_field("a", "1"), a_file(b"1")[:-2], b"2", b"3", b"\r\n" + a_field("b", "2"), END, b"more"])
    form = IncomingForm(sender, CONTENT_TYPE)
    assert sender.sent == 0
    await form.next_file()
    assert sender.sent == 2
    chunks = form.iter_chunks()
    assert [await anext(chunks), await anext(chunks)] == [b"1", b"2"]
    assert sender.sent == 3
    assert [chunk async for chunk in chunks] == [b"3"]
    assert sender.sent == 5
    await form.finish()
    assert sender.sent == 6


async def test_what_was_not_read_of_a_file_is_passed_over() -> None:
    form = IncomingForm(Sender([a_file(b"1" * 99) + a_file(b"2") + END]), CONTENT_TYPE)
    assert await form.next_file() == await form.next_file() == PART
    assert [chunk async for chunk in form.iter_chunks()] == [b"2"]
    assert [await form.next_file(), await form.next_file()] == [None, None]


async def test_a_second_file_is_refused() -> None:
    with pytest.raises(MalformedUpload, match="Send one file per request"):
        await receive(a_file(b"1") + a_file(b"2") + END)


async def test_an_error_comes_after_the_files_in_front_of_it_however_the_form_is_cut() -> None:
    form = IncomingForm(Sender([a_file(b"1") + a_file(b"2") + a_field("a", "1")[:40] + b"\r\n\r\n"]), CONTENT_TYPE)
    assert [await form.next_file(), await form.next_file()] == [PART, PART]
    assert not form.is_broken
    with pytest.raises(MalformedUpload):
        await form.next_file()
    assert form.is_broken


@pytest.mark.parametrize("content_type", [None, "application/pdf", "multipart/form-data"])
def test_a_request_that_is_no_form_is_refused_before_anything_is_read(content_type: str | None) -> None:
    sender = Sender([b""])
    with pytest.raises(MalformedUpload):
        IncomingForm(sender, content_type)
    assert sender.sent == 0


def in_pieces(body: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(cut % (len(body) + 1) for cut in cuts), len(body)]
    return [body[start:end] for start, end in pairwise(edges)]


NEARLY_BOUNDARIES = st.lists(
    st.sampled_from(["\r", "\n", "-", "\r\n--", BOUNDARY[:-1]])
    | st.sampled_from(["x", "-x", "\rx"]).map(lambda ending: f"\r\n--{BOUNDARY}{ending}")
).map(lambda pieces: "".join(pieces).encode())


@settings(deadline=None)
@given(
    st.binary().filter(lambda content: BOUNDARY.encode() not in content) | NEARLY_BOUNDARIES,
    st.text(st.characters(exclude_categories=["Cs"])),
    st.lists(st.integers(0, 10**4), max_size=30),
)
async def test_a_form_is_the_same_however_it_is_cut_into_chunks(content: bytes, value: str, cuts: list[int]) -> None:
    body = b"preamble\r\n" + a_field("a", value) + a_file(content) + a_field("b", value) + END
    expected = Received(PART, content, {"a": value, "b": value})
    assert await receive(body) == expected
    assert await receive(*in_pieces(body, cuts)) == expected
    assert await receive(*in_pieces(body, list(range(len(body))))) == expected


PIECES = st.sampled_from(
    [
        b"\r\n",
        b"--" + BOUNDARY.encode(),
        b"--",
        b"Content-Disposition: ",
        b"form-data; ",
        b'name="x"',
        b'; filename="y"',
        b":",
    ]
)


@settings(max_examples=500, deadline=None)
@given(st.lists(st.lists(PIECES | st.binary(max_size=9), max_size=12).map(b"".join), max_size=4))
@example([b"--" + BOUNDARY.encode() + b"\r\n"] + [b"\r\n"] * 9)
async def test_any_bytes_are_a_form_or_malformed(chunks: list[bytes]) -> None:
    with suppress(MalformedUpload):
        await receive(*chunks)


async def test_memory_does_not_grow_with_the_file() -> None:
    size_bytes, chunk_bytes = 64 * 1024 * 1024, 64 * 1024
    content = (bytes([number % 256]) * chunk_bytes for number in range(size_bytes // chunk_bytes))
    form = IncomingForm(Sender(chain([a_file(b"")[:-2]], content, [b"\r\n" + END])), CONTENT_TYPE)
    received_bytes = 0
    tracemalloc.start()
    try:
        await form.next_file()
        async for chunk in form.iter_chunks():
            received_bytes += len(chunk)
        await form.finish()
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert received_bytes == size_bytes
    assert peak_bytes < 8 * 1024 * 1024
