"""Contract of `ObjectStore`: content and order of listings."""

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import pytest

from muniment.storage.objects.port import ObjectInfo, ObjectStore


async def put_all(objects: ObjectStore, keys: Iterable[str]) -> None:
    at_once = asyncio.Semaphore(30)

    async def put(key: str) -> None:
        async with at_once:
            await objects.put(key, key.encode())

    await asyncio.gather(*(put(key) for key in keys))


async def keys(objects: ObjectStore, prefix: str = "", after: str = "") -> list[str]:
    return [info.key async for info in objects.list(prefix, after=after)]


async def test_empty_store_lists_nothing(objects: ObjectStore) -> None:
    assert await keys(objects) == []
    assert await keys(objects, "a/") == []


async def test_listing_tells_key_size_and_time(objects: ObjectStore) -> None:
    await objects.put("a/x", b"bytes")

    [info] = [info async for info in objects.list()]

    assert info == ObjectInfo("a/x", 5, info.modified_at)
    assert abs(datetime.now(UTC) - info.modified_at) < timedelta(minutes=1)


async def test_fifteen_hundred_keys_come_in_order_and_from_any_point_on(objects: ObjectStore) -> None:
    expected = sorted(f"{number % 7}/{number % 3}/{number:04}" for number in range(1500))
    await put_all(objects, expected)

    assert await keys(objects) == expected
    assert await keys(objects, after=expected[700]) == expected[701:]
    assert await keys(objects, after="3/1/07") == [key for key in expected if key > "3/1/07"]
    assert await keys(objects, "3/1/", after="3/1/07") == [key for key in expected if "3/1/07" < key < "3/2"]


async def test_prefix_is_the_start_of_a_key_and_need_not_end_at_a_slash(objects: ObjectStore) -> None:
    await put_all(objects, ["a/x", "ab/x", "ab/y", "b/x", "b/xy/z", "c"])

    assert await keys(objects, "a") == ["a/x", "ab/x", "ab/y"]
    assert await keys(objects, "a/") == ["a/x"]
    assert await keys(objects, "b/x") == ["b/x", "b/xy/z"]
    assert await keys(objects, "c") == ["c"]
    assert await keys(objects, "c/") == []
    assert await keys(objects, "ab/", after="ab/x") == ["ab/y"]
    assert await keys(objects, "ab/", after="b") == []
    assert await keys(objects, "b/", after="a/x") == ["b/x", "b/xy/z"]


@pytest.mark.parametrize(("prefix", "after"), [("/", ""), ("../", ""), ("a//", ""), ("", "a/"), ("", "..")])
async def test_prefix_that_no_key_can_have_is_refused(objects: ObjectStore, prefix: str, after: str) -> None:
    with pytest.raises(ValueError, match="key"):
        await keys(objects, prefix, after)


async def test_object_that_is_deleted_during_a_listing_does_not_break_it(objects: ObjectStore) -> None:
    await put_all(objects, [f"{number:04}/x" for number in range(520)])
    listing = objects.list()
    first = await anext(listing)
    await objects.delete("0519/x")

    rest = [info.key async for info in listing]

    assert [first.key, *rest][:519] == [f"{number:04}/x" for number in range(519)]
