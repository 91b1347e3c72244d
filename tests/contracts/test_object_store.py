"""Contract of `ObjectStore` on the real engines: reading, writing and deleting one object."""

import asyncio
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from muniment.storage.objects.port import ObjectNotFound, ObjectStore
from tests.contracts.conftest import Store

MIB = 1024 * 1024

HOSTILE_KEYS = [
    "",
    "/",
    "/a",
    "a/",
    "a//b",
    ".",
    "..",
    "../x",
    "a/./b",
    "a/../b",
    "a/.hidden",
    ".incoming/x",
    "a\0b",
    "a\nb",
    "a\\b",
    "a/" + "b" * 256,
    "/".join(["a" * 100] * 11),
    "grüße",
    "a\u2215b",
]


async def read(blobs: ObjectStore, key: str, start: int = 0, end: int | None = None) -> bytes:
    return b"".join([piece async for piece in blobs.read(key, start=start, end=end)])


async def keys(blobs: ObjectStore) -> list[str]:
    return [info.key async for info in blobs.list()]


async def test_what_was_put_can_be_read_whole_and_in_pieces(blobs: ObjectStore) -> None:
    await blobs.put("originals/one", b"bytes")

    assert await blobs.get("originals/one") == b"bytes"
    assert await read(blobs, "originals/one") == b"bytes"
    assert await blobs.size_bytes("originals/one") == 5


async def test_put_replaces_what_was_there(blobs: ObjectStore) -> None:
    await blobs.put("a/x", b"first, and longer")
    await blobs.put("a/x", b"second")

    assert await blobs.get("a/x") == b"second"


async def test_writer_replaces_what_was_there(blobs: ObjectStore) -> None:
    await blobs.put("a/x", b"first, and longer")
    async with blobs.writer("a/x") as writer:
        await writer.write(b"sec")
        await writer.write(b"ond")

    assert await blobs.get("a/x") == b"second"


async def test_object_of_no_bytes_is_an_object(blobs: ObjectStore) -> None:
    await blobs.put("put", b"")
    async with blobs.writer("written"):
        pass

    for key in ("put", "written"):
        assert await blobs.get(key) == b""
        assert await blobs.size_bytes(key) == 0
        assert await read(blobs, key, 0, 10) == b""


async def test_nobody_sees_an_object_before_the_block_has_ended(blobs: ObjectStore) -> None:
    async with blobs.writer("a/x") as writer:
        await writer.write(bytes(6 * MIB))
        with pytest.raises(ObjectNotFound):
            await blobs.size_bytes("a/x")
        assert await keys(blobs) == []

    assert await blobs.size_bytes("a/x") == 6 * MIB


async def test_missing_object_is_not_found_before_the_first_piece(blobs: ObjectStore) -> None:
    with pytest.raises(ObjectNotFound):
        await blobs.get("missing/x")
    with pytest.raises(ObjectNotFound):
        await blobs.size_bytes("missing/x")
    for start, end in [(0, None), (0, 0), (3, 7)]:
        with pytest.raises(ObjectNotFound):
            await anext(blobs.read("missing/x", start=start, end=end))


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (0, None, b"0123456789"),
        (0, 4, b"0123"),
        (3, 7, b"3456"),
        (9, None, b"9"),
        (7, 50, b"789"),
        (4, 4, b""),
        (10, None, b""),
        (10, 12, b""),
        (50, 60, b""),
    ],
)
async def test_range_gives_these_bytes_and_leaves_out_what_lies_beyond(
    blobs: ObjectStore, start: int, end: int | None, expected: bytes
) -> None:
    await blobs.put("ten", b"0123456789")

    assert await read(blobs, "ten", start, end) == expected


@pytest.mark.parametrize(("start", "end"), [(-1, None), (-3, 2), (5, 4)])
async def test_negative_or_reversed_range_is_refused(blobs: ObjectStore, start: int, end: int | None) -> None:
    await blobs.put("ten", b"0123456789")

    with pytest.raises(ValueError, match="range"):
        await read(blobs, "ten", start, end)


async def test_deleted_object_is_gone_and_deleting_it_again_is_no_error(blobs: ObjectStore) -> None:
    await blobs.put("a/b/x", b"bytes")
    await blobs.delete("a/b/x")
    await blobs.delete("a/b/x")
    await blobs.delete("never/was")

    with pytest.raises(ObjectNotFound):
        await blobs.get("a/b/x")
    assert await keys(blobs) == []


async def test_reader_that_began_before_a_delete_gets_all_of_it_or_an_error(blobs: ObjectStore) -> None:
    await blobs.put("a/x", b"".join(bytes([number]) * MIB for number in range(8)))
    reader = blobs.read("a/x")
    received = await anext(reader)
    await blobs.delete("a/x")

    try:
        received += b"".join([piece async for piece in reader])
    except ObjectNotFound:
        pass
    else:
        assert received == b"".join(bytes([number]) * MIB for number in range(8))
    with pytest.raises(ObjectNotFound):
        await anext(blobs.read("a/x"))


async def test_put_if_absent_writes_once(blobs: ObjectStore, store: Store) -> None:
    assert await blobs.put_if_absent("a/x", b"first")
    assert not await blobs.put_if_absent("a/x", b"second")

    assert await blobs.get("a/x") == b"first"
    assert store.leftovers() == []


async def test_of_twenty_at_once_one_is_first(blobs: ObjectStore, store: Store) -> None:
    is_first = await asyncio.gather(*(blobs.put_if_absent("a/x", str(number).encode()) for number in range(20)))

    assert is_first.count(True) == 1
    assert await blobs.get("a/x") == str(is_first.index(True)).encode()
    assert store.leftovers() == []


async def test_writing_and_deleting_side_by_side_disturb_nobody(blobs: ObjectStore) -> None:
    async def come_and_go(number: int) -> None:
        for _ in range(20):
            await blobs.put(f"a/b/{number}", b"bytes")
            await blobs.delete(f"a/b/{number}")

    await asyncio.gather(*(come_and_go(number) for number in range(8)))

    assert await keys(blobs) == []


async def write(blobs: ObjectStore, key: str) -> None:
    async with blobs.writer(key) as writer:
        await writer.write(b"bytes")


@pytest.mark.parametrize(
    "ask",
    [
        write,
        lambda blobs, key: blobs.put(key, b"bytes"),
        lambda blobs, key: blobs.put_if_absent(key, b"bytes"),
        lambda blobs, key: blobs.get(key),
        lambda blobs, key: blobs.size_bytes(key),
        lambda blobs, key: anext(blobs.read(key)),
        lambda blobs, key: blobs.delete(key),
    ],
)
async def test_hostile_key_is_refused(blobs: ObjectStore, ask: Callable[[ObjectStore, str], Awaitable[object]]) -> None:
    for key in HOSTILE_KEYS:
        with pytest.raises(ValueError, match="key"):
            await ask(blobs, key)


@pytest.mark.parametrize(
    "key",
    [
        "a/" + "".join(chr(code) for code in range(32, 127) if chr(code) not in "/\\"),
        "a/%2e%2e/%2F",
        "a/b.",
        "a/ b ",
        "/".join(["a" * 255, "b" * 255, "c" * 255, "d" * 254, "e"]),
    ],
)
async def test_every_allowed_character_and_length_comes_back_as_it_was(blobs: ObjectStore, key: str) -> None:
    await blobs.put(key, b"bytes")

    assert await blobs.get(key) == b"bytes"
    assert await keys(blobs) == [key]
    await blobs.delete(key)
    assert await keys(blobs) == []


async def test_large_object_goes_in_and_out_in_constant_memory(blobs: ObjectStore) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for number in range(48 * 4):
            yield bytes([number]) * (MIB // 4)

    tracemalloc.start()
    try:
        async with blobs.writer("large") as writer:
            async for piece in pieces():
                await writer.write(piece)
        received = 0
        async for piece in blobs.read("large"):
            received += len(piece)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert received == 48 * MIB
    assert peak < 20 * MIB
    assert await read(blobs, "large", 10 * MIB - 1, 10 * MIB + 1) == bytes([39, 40])


async def test_store_finds_itself_in_order_and_leaves_no_probe(blobs: ObjectStore) -> None:
    await blobs.check()

    assert await keys(blobs) == []
