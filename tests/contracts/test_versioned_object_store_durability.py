"""Promises of a queue in a folder beyond the contract: what was acknowledged is on the disk."""

import shutil
from pathlib import Path

import pytest

from muniment.storage.objects.folder.store import VersionedFolderStore
from tests.contracts.test_object_store_durability import SyncLog, inode


async def store(queue: VersionedFolderStore, way: str, key: str) -> None:
    if way == "put_new":
        await queue.put_if_absent(key, b"bytes")
    else:
        async with queue.writer(key) as writer:
            await writer.write(b"bytes")


def synced(log: SyncLog) -> set[int]:
    return {synced for synced, _ in log.entries}


@pytest.mark.parametrize("way", ["put_new", "writer"])
async def test_every_folder_is_synced_until_it_was_seen_on_the_disk_and_then_the_last_alone(
    tmp_path: Path, way: str
) -> None:
    root = tmp_path / "queue"
    log = SyncLog(root / "a/b/x")
    queue = VersionedFolderStore(root, sync=log)
    log.entries.clear()
    await store(queue, way, "a/b/x")
    assert {inode(root / "a/b"), inode(root / "a"), inode(root), inode(root / "a/b/x")} <= synced(log)
    assert log.entries[0] == (inode(root / "a/b/x"), False)  # the bytes before the name

    log.entries.clear()
    await store(queue, way, "a/b/y")
    assert synced(log) == {inode(root / "a/b"), inode(root / "a/b/y")}

    log.entries.clear()
    shutil.rmtree(root / "a")
    await store(queue, way, "a/b/z")
    assert {inode(root / "a/b"), inode(root / "a"), inode(root)} <= synced(log)


async def test_change_and_delete_are_synced(tmp_path: Path) -> None:
    log = SyncLog(tmp_path / "a/x")
    queue = VersionedFolderStore(tmp_path, sync=log)
    await queue.put_if_absent("a/x", b"first")
    version = (await queue.get_versioned("a/x")).version
    log.entries.clear()
    await queue.put_if_match("a/x", b"second", version=version)
    assert synced(log) >= {inode(tmp_path / "a/x"), inode(tmp_path / "a")}

    log.entries.clear()
    await queue.delete("a/x")
    assert inode(tmp_path / "a") in synced(log)


async def test_an_empty_folder_stays_for_later_objects(tmp_path: Path) -> None:
    queue = VersionedFolderStore(tmp_path)
    await queue.put_if_absent("a/b/x", b"bytes")
    await queue.delete("a/b/x")

    assert (tmp_path / "a/b").is_dir()
    assert [info async for info in queue.list()] == []
