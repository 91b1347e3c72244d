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


async def read(objects: ObjectStore, key: str, start: int = 0, end: int | None = None) -> bytes:
    return b"".join([piece async for piece in objects.read(key, start=start, end=end)])


async def keys(objects: ObjectStore) -> list[str]:
    return [info.key async for info in objects.list()]


async def test_what_was_put_can_be_read_whole_and_in_pieces(objects: ObjectStore) -> None:
    await objects.put("originals/one", b"bytes")

    assert await objects.get("originals/one") == b"bytes"
    assert await read(objects, "originals/one") == b"bytes"
    assert await objects.size_bytes("originals/one") == 5


async def test_put_replaces_what_was_there(objects: ObjectStore) -> None:
    await objects.put("a/x", b"first, and longer")
    await objects.put("a/x", b"second")

    assert await objects.get("a/x") == b"second"


async def test_writer_replaces_what_was_there(objects: ObjectStore) -> None:
    await objects.put("a/x", b"first, and longer")
    async with objects.writer("a/x") as writer:
        await writer.write(b"sec")
        await writer.write(b"ond")

    assert await objects.get("a/x") == b"second"


async def test_object_of_no_bytes_is_an_object(objects: ObjectStore) -> None:
    await objects.put("put", b"")
    async with objects.writer("written"):
        pass

    for key in ("put", "written"):
        assert await objects.get(key) == b""
        assert await objects.size_bytes(key) == 0
        assert await read(objects, key, 0, 10) == b""


async def test_nobody_sees_an_object_before_the_block_has_ended(objects: ObjectStore) -> None:
    async with objects.writer("a/x") as writer:
        await writer.write(bytes(6 * MIB))
        with pytest.raises(ObjectNotFound):
            await objects.size_bytes("a/x")
        assert await keys(objects) == []

    assert await objects.size_bytes("a/x") == 6 * MIB


async def test_missing_object_is_not_found_before_the_first_piece(objects: ObjectStore) -> None:
    with pytest.raises(ObjectNotFound):
        await objects.get("missing/x")
    with pytest.raises(ObjectNotFound):
        await objects.size_bytes("missing/x")
    for start, end in [(0, None), (0, 0), (3, 7)]:
        with pytest.raises(ObjectNotFound):
            await anext(objects.read("missing/x", start=start, end=end))


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
    objects: ObjectStore, start: int, end: int | None, expected: bytes
) -> None:
    await objects.put("ten", b"0123456789")

    assert await read(objects, "ten", start, end) == expected


@pytest.mark.parametrize(("start", "end"), [(-1, None), (-3, 2), (5, 4)])
async def test_negative_or_reversed_range_is_refused(objects: ObjectStore, start: int, end: int | None) -> None:
    await objects.put("ten", b"0123456789")

    with pytest.raises(ValueError, match="range"):
        await read(objects, "ten", start, end)


async def test_deleted_object_is_gone_and_deleting_it_again_is_no_error(objects: ObjectStore) -> None:
    await objects.put("a/b/x", b"bytes")
    await objects.delete("a/b/x")
    await objects.delete("a/b/x")
    await objects.delete("never/was")

    with pytest.raises(ObjectNotFound):
        await objects.get("a/b/x")
    assert await keys(objects) == []


async def test_reader_that_began_before_a_delete_gets_all_of_it_or_an_error(objects: ObjectStore) -> None:
    await objects.put("a/x", b"".join(bytes([number]) * MIB for number in range(8)))
    reader = objects.read("a/x")
    received = await anext(reader)
    await objects.delete("a/x")

    try:
        received += b"".join([piece async for piece in reader])
    except ObjectNotFound:
        pass
    else:
        assert received == b"".join(bytes([number]) * MIB for number in range(8))
    with pytest.raises(ObjectNotFound):
        await anext(objects.read("a/x"))


async def test_put_if_absent_writes_once(objects: ObjectStore, store: Store) -> None:
    assert await objects.put_if_absent("a/x", b"first")
    assert not await objects.put_if_absent("a/x", b"second")

    assert await objects.get("a/x") == b"first"
    assert store.leftovers() == []


async def test_of_twenty_at_once_one_is_first(objects: ObjectStore, store: Store) -> None:
    is_first = await asyncio.gather(*(objects.put_if_absent("a/x", str(number).encode()) for number in range(20)))

    assert is_first.count(True) == 1
    assert await objects.get("a/x") == str(is_first.index(True)).encode()
    assert store.leftovers() == []


async def test_writing_and_deleting_side_by_side_disturb_nobody(objects: ObjectStore) -> None:
    async def come_and_go(number: int) -> None:
        for _ in range(20):
            await objects.put(f"a/b/{number}", b"bytes")
            await objects.delete(f"a/b/{number}")

    await asyncio.gather(*(come_and_go(number) for number in range(8)))

    assert await keys(objects) == []


async def write(objects: ObjectStore, key: str) -> None:
    async with objects.writer(key) as writer:
        await writer.write(b"bytes")


@pytest.mark.parametrize(
    "ask",
    [
        write,
        lambda objects, key: objects.put(key, b"bytes"),
        lambda objects, key: objects.put_if_absent(key, b"bytes"),
        lambda objects, key: objects.get(key),
        lambda objects, key: objects.size_bytes(key),
        lambda objects, key: anext(objects.read(key)),
        lambda objects, key: objects.delete(key),
    ],
)
async def test_hostile_key_is_refused(
    objects: ObjectStore, ask: Callable[[ObjectStore, str], Awaitable[object]]
) -> None:
    for key in HOSTILE_KEYS:
        with pytest.raises(ValueError, match="key"):
            await ask(objects, key)


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
async def test_every_allowed_character_and_length_comes_back_as_it_was(objects: ObjectStore, key: str) -> None:
    await objects.put(key, b"bytes")

    assert await objects.get(key) == b"bytes"
    assert await keys(objects) == [key]
    await objects.delete(key)
    assert await keys(objects) == []


async def test_large_object_goes_in_and_out_in_constant_memory(objects: ObjectStore) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for number in range(48 * 4):
            yield bytes([number]) * (MIB // 4)

    tracemalloc.start()
    try:
        async with objects.writer("large") as writer:
            async for piece in pieces():
                await writer.write(piece)
        received = 0
        async for piece in objects.read("large"):
            received += len(piece)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert received == 48 * MIB
    assert peak < 20 * MIB
    assert await read(objects, "large", 10 * MIB - 1, 10 * MIB + 1) == bytes([39, 40])


async def test_store_finds_itself_in_order_and_leaves_no_probe(objects: ObjectStore) -> None:
    await objects.check()
    await objects.check_access()

    assert await keys(objects) == []
