"""Promises of the folder store beyond the contract: permissions, confinement to its folder, clear errors."""

import asyncio
import errno
import os
import resource
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from muniment.errors import StorageFull, Unavailable
from muniment.storage.objects.folder.store import FolderObjectStore
from muniment.storage.objects.port import ObjectNotFound

MIB = 1024 * 1024


def pending_files(root: Path) -> list[Path]:
    return list((root / ".incoming").iterdir())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "data" / "blobs"


@pytest.fixture
def no_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("no_umask")
async def test_files_and_folders_are_for_their_owner_alone(root: Path) -> None:
    objects = FolderObjectStore(root)
    await objects.put("a/b/x", b"bytes")

    async with objects.writer("a/y") as writer:
        await writer.write(bytes(MIB))
        [draft] = pending_files(root)
        assert stat.S_IMODE(draft.stat().st_mode) == 0o600

    assert stat.S_IMODE((root / "a/b/x").stat().st_mode) == 0o600
    for folder in (root.parent, root, root / ".incoming", root / "a", root / "a/b"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


async def test_keys_are_sorted_as_strings_and_not_folder_by_folder(root: Path) -> None:
    objects = FolderObjectStore(root)
    for key in ("a/x", "a-b/x", "a.b", "a0", "a/y/z", "A"):
        await objects.put(key, b"")

    listed = [info.key async for info in objects.list()]

    assert listed == ["A", "a-b/x", "a.b", "a/x", "a/y/z", "a0"]
    for key in listed:
        assert [info.key async for info in objects.list(after=key)] == listed[listed.index(key) + 1 :]


async def test_empty_folders_are_removed_and_others_stay(root: Path) -> None:
    objects = FolderObjectStore(root)
    await objects.put("a/b/c/x", b"")
    await objects.put("a/y", b"")

    await objects.delete("a/b/c/x")

    assert not (root / "a/b").exists()
    assert await objects.get("a/y") == b""
    await objects.delete("a/y")
    assert [path.name for path in root.iterdir()] == [".incoming"]


async def test_writer_survives_that_a_delete_next_door_takes_its_folder(root: Path) -> None:
    objects = FolderObjectStore(root, sync=lambda descriptor: None)  # faster, and so more often concurrent

    async def come_and_go(number: int) -> None:
        for _ in range(300):
            await objects.put(f"a/b/{number}", b"bytes")
            await objects.delete(f"a/b/{number}")

    await asyncio.gather(*(come_and_go(number) for number in range(3)))

    assert [path.name for path in root.iterdir()] == [".incoming"]


async def test_links_inside_the_folder_lead_nowhere(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(b"secret")
    objects = FolderObjectStore(root)
    (root / "folder").symlink_to(outside)
    (root / "file").symlink_to(outside / "secret")

    for key in ("folder/secret", "file", "folder"):
        with pytest.raises(ObjectNotFound):
            await objects.get(key)
    assert [info.key async for info in objects.list()] == []
    with pytest.raises(ValueError, match="key"):
        await objects.put("folder/new", b"bytes")
    await objects.delete("folder/secret")
    await objects.put("file", b"bytes")

    assert [path.name for path in outside.iterdir()] == ["secret"]
    assert (outside / "secret").read_bytes() == b"secret"


async def test_key_below_another_key_is_refused(root: Path) -> None:
    objects = FolderObjectStore(root)
    await objects.put("a/x", b"bytes")

    with pytest.raises(ValueError, match="below another key"):
        await objects.put("a/x/y", b"bytes")
    with pytest.raises(ValueError, match="below another key"):
        await objects.put("a", b"bytes")
    with pytest.raises(ObjectNotFound):
        await objects.get("a")
    await objects.delete("a")

    assert await objects.get("a/x") == b"bytes"
    assert pending_files(root) == []


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
async def test_full_disk_is_said_so_and_leaves_the_older_object(root: Path, code: int) -> None:
    await FolderObjectStore(root).put("a/x", b"older")

    def full(descriptor: int) -> None:
        raise OSError(code, os.strerror(code))

    objects = FolderObjectStore(root, sync=full)
    with pytest.raises(StorageFull):
        await objects.put("a/x", b"newer")
    with pytest.raises(StorageFull):
        async with objects.writer("a/x") as writer:
            await writer.write(b"newer")
    with pytest.raises(Unavailable, match=os.strerror(code)):
        await objects.check()

    assert await objects.get("a/x") == b"older"
    assert pending_files(root) == []


@pytest.fixture
def small_files_only() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3 * MIB, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.usefixtures("small_files_only")
async def test_block_that_continues_after_a_failed_write_stores_nothing(root: Path) -> None:
    objects = FolderObjectStore(root)

    async def go_on() -> None:
        async with objects.writer("a/x") as writer:
            await writer.write(bytes(2 * MIB))
            with pytest.raises(Unavailable):
                await writer.write(bytes(2 * MIB))

    with pytest.raises(Unavailable):
        await go_on()

    assert [info.key async for info in objects.list()] == []
    assert pending_files(root) == []


async def test_folder_that_is_gone_is_unavailable_and_not_empty(root: Path) -> None:
    objects = FolderObjectStore(root)
    (root / ".incoming").rmdir()
    root.rmdir()

    for work in (objects.get("a/x"), objects.put("a/x", b""), objects.delete("a/x"), anext(objects.list())):
        with pytest.raises(Unavailable):
            await work
    for check in (objects.check(), objects.check_access()):
        with pytest.raises(Unavailable, match=str(root)):
            await check


async def test_folder_is_not_made_by_looking_at_it(root: Path) -> None:
    with pytest.raises(Unavailable, match=str(root)):
        await FolderObjectStore(root, create=False).check_access()
    assert not root.exists()


def test_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(Unavailable, match=str(tmp_path / "file" / "blobs")):
        FolderObjectStore(tmp_path / "file" / "blobs")
