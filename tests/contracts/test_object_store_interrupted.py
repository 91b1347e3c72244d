"""Contract of `ObjectStore`: an interrupted writer leaves nothing."""

import asyncio
from datetime import UTC, datetime

import pytest

from tests.contracts.conftest import Store

MIB = 1024 * 1024


class Interruption(Exception):
    pass


async def write_and_raise(store: Store, size: int) -> None:
    async with store.objects.writer("a/x") as writer:
        await writer.write(bytes(size))
        raise Interruption


async def assert_nothing_is_left(store: Store) -> None:
    assert store.leftovers() == []
    assert [info.key async for info in store.objects.list()] == []


@pytest.mark.parametrize("size", [0, 100, 12 * MIB])
async def test_block_that_raises_leaves_no_object_and_nothing_temporary(store: Store, size: int) -> None:
    for _ in range(5):
        with pytest.raises(Interruption):
            await write_and_raise(store, size)

    await assert_nothing_is_left(store)


async def test_block_that_raises_leaves_the_older_object_alone(store: Store) -> None:
    await store.objects.put("a/x", b"older")

    with pytest.raises(Interruption):
        await write_and_raise(store, 12 * MIB)

    assert await store.objects.get("a/x") == b"older"
    assert store.leftovers() == []


async def test_cancelled_block_leaves_nothing_whenever_it_is_cancelled(store: Store) -> None:
    async def write_forever() -> None:
        async with store.objects.writer("a/x") as writer:
            while True:
                await writer.write(bytes(MIB))

    for milliseconds in range(25):
        writing = asyncio.create_task(write_forever())
        await asyncio.sleep(milliseconds / 1000)
        for task in asyncio.all_tasks() - {asyncio.current_task()}:  # as at the end of an event loop
            task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing

    await assert_nothing_is_left(store)


async def test_second_cancellation_does_not_interrupt_the_tidying_up(store: Store) -> None:
    is_written = asyncio.Event()

    async def write_and_wait() -> None:
        async with store.objects.writer("a/x") as writer:
            await writer.write(bytes(12 * MIB))
            is_written.set()
            await asyncio.Event().wait()

    writing = asyncio.create_task(write_and_wait())
    await is_written.wait()
    writing.cancel()
    await asyncio.sleep(0)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing

    await assert_nothing_is_left(store)


async def test_nothing_is_abandoned_in_a_store_whose_writers_ended_well(store: Store) -> None:
    await store.objects.put("a/x", b"bytes")

    assert await store.objects.delete_stale_uploads(before=datetime.now(UTC)) == 0
    assert await store.objects.get("a/x") == b"bytes"
