"""Promises of the folder store beyond the contract: nothing acknowledged is lost, nothing unfinished remains."""

import asyncio
import os
import stat
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from muniment.storage.objects.folder.store import FolderObjectStore

MIB = 1024 * 1024


class SyncLog:
    """Syncs, and records what was synced and whether `watched` was visible at that moment."""

    def __init__(self, watched: Path) -> None:
        self.watched = watched
        self.entries: list[tuple[int, bool]] = []

    def __call__(self, descriptor: int) -> None:
        os.fsync(descriptor)
        self.entries.append((os.fstat(descriptor).st_ino, self.watched.exists()))


async def store(objects: FolderObjectStore, way: str, key: str) -> None:
    if way == "put":
        await objects.put(key, b"bytes")
    elif way == "put_if_absent":
        await objects.put_if_absent(key, b"bytes")
    else:
        async with objects.writer(key) as writer:
            await writer.write(b"bytes")


def inode(path: Path) -> int:
    return path.stat().st_ino


def pending_files(root: Path) -> list[Path]:
    return list((root / ".incoming").iterdir())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "data" / "blobs"


@pytest.mark.parametrize("way", ["put", "put_if_absent", "writer"])
async def test_bytes_are_synced_before_the_name_and_every_folder_after_it(root: Path, way: str) -> None:
    log = SyncLog(root / "a/b/x")
    objects = FolderObjectStore(root, sync=log)
    log.entries.clear()

    await store(objects, way, "a/b/x")

    assert log.entries == [
        (inode(root / "a/b/x"), False),
        (inode(root / "a/b"), True),
        (inode(root / "a"), True),
        (inode(root), True),
    ]


async def test_folders_of_another_writer_are_synced_too(root: Path) -> None:
    # Their creator may have been interrupted here.
    (root / "a/b").mkdir(parents=True)
    log = SyncLog(root)

    await FolderObjectStore(root, sync=log).put("a/b/x", b"bytes")

    assert {inode(root / "a/b"), inode(root / "a"), inode(root)} <= {synced for synced, _ in log.entries}


async def test_loser_of_put_if_absent_makes_sure_that_the_winner_is_durable(root: Path) -> None:
    await FolderObjectStore(root).put("a/x", b"winner")
    log = SyncLog(root)

    assert not await FolderObjectStore(root, sync=log).put_if_absent("a/x", b"loser")

    assert {inode(root / "a"), inode(root)} <= {synced for synced, _ in log.entries}


async def test_delete_is_synced_also_when_somebody_else_has_just_removed_the_file(root: Path) -> None:
    log = SyncLog(root / "a/x")
    objects = FolderObjectStore(root, sync=log)
    await objects.put("a/x", b"bytes")
    await objects.put("a/y", b"bytes")
    log.entries.clear()

    await objects.delete("a/x")
    await objects.delete("a/x")

    assert log.entries == [(inode(root / "a"), False)] * 2


async def test_new_root_is_synced_into_its_parents(tmp_path: Path) -> None:
    log = SyncLog(tmp_path)

    FolderObjectStore(tmp_path / "data" / "blobs", sync=log)

    assert [synced for synced, _ in log.entries] == [
        inode(tmp_path),
        inode(tmp_path / "data"),
        inode(tmp_path / "data" / "blobs"),
    ]


@pytest.mark.parametrize("way", ["put", "put_if_absent", "writer"])
async def test_cancellation_during_the_last_sync_leaves_a_whole_object_and_no_draft(root: Path, way: str) -> None:
    is_syncing, may_go_on = threading.Event(), threading.Event()

    def wait(descriptor: int) -> None:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            is_syncing.set()
            may_go_on.wait(10)

    objects = FolderObjectStore(root, sync=wait)
    storing = asyncio.create_task(store(objects, way, "a/x"))
    await asyncio.to_thread(is_syncing.wait, 10)
    for task in asyncio.all_tasks() - {asyncio.current_task()}:  # as at the end of an event loop
        task.cancel()
    await asyncio.wait([storing], timeout=0.1)
    may_go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await storing

    assert await objects.get("a/x") == b"bytes"
    assert pending_files(root) == []


@pytest.mark.slow
async def test_killed_writer_leaves_no_object_and_its_draft_can_be_removed(root: Path) -> None:
    program = Path(__file__).parent / "programs" / "half_written.py"
    child = await asyncio.create_subprocess_exec(sys.executable, program, root, stdout=asyncio.subprocess.PIPE)
    assert child.stdout is not None
    assert await child.stdout.readline() == b"half written\n"
    child.kill()
    await child.wait()
    objects = FolderObjectStore(root)
    async with objects.writer("a/y") as writer:
        await writer.write(bytes(MIB))
        [old] = [draft for draft in pending_files(root) if draft.stat().st_size == 2 * MIB]
        an_hour_ago = datetime.now(UTC) - timedelta(hours=1)
        os.utime(old, (an_hour_ago.timestamp() - 1, an_hour_ago.timestamp() - 1))

        assert [info.key async for info in objects.list()] == []
        assert await objects.delete_stale_uploads(before=an_hour_ago - timedelta(minutes=1)) == 0
        assert await objects.delete_stale_uploads(before=an_hour_ago) == 1
        assert await objects.delete_stale_uploads(before=an_hour_ago) == 0

    assert [info.key async for info in objects.list()] == ["a/y"]
    assert pending_files(root) == []
