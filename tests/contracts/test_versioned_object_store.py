"""Contract of `VersionedObjectStore`, which both sides of the Paperless queue rely on, on the real engines."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from obstore import sign_async
from obstore.store import S3Store

from muniment.errors import Unavailable
from muniment.storage.objects.contract import probe_versioned_store
from muniment.storage.objects.folder.store import VersionedFolderStore
from muniment.storage.objects.port import ObjectNotFound, VersionedObjectStore
from muniment.storage.objects.s3.connection import build_s3_client
from muniment.storage.objects.s3.store import VersionedS3Store
from tests.support.seaweedfs import SeaweedFS

KEY = "org/one/invoice/ab.meta.json"
MIB = 1024 * 1024


@pytest.fixture(params=["folder", "s3"])
async def queue(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[VersionedObjectStore]:
    if request.param == "folder":
        queue: VersionedObjectStore = VersionedFolderStore(tmp_path / "queue")
    else:
        queue = build_s3_store(request.getfixturevalue("empty_s3_server"))
    yield queue
    await queue.close()


def build_s3_store(server: SeaweedFS) -> VersionedS3Store:
    return VersionedS3Store(server.address)


async def keys(queue: VersionedObjectStore, prefix: str = "", *, after: str = "") -> list[str]:
    return [info.key async for info in queue.list(prefix, after=after)]


async def write(queue: VersionedObjectStore, key: str, data: bytes) -> None:
    async with queue.writer(key) as writer:
        await writer.write(data)


async def test_new_object_is_written_once_and_read_with_its_version(queue: VersionedObjectStore) -> None:
    assert await queue.put_if_absent(KEY, b"first")
    assert not await queue.put_if_absent(KEY, b"second")

    held = await queue.get_versioned(KEY)
    assert held.data == b"first"
    assert held.version


async def test_of_many_that_write_anew_one_is_first(queue: VersionedObjectStore) -> None:
    is_first = await asyncio.gather(*(queue.put_if_absent(KEY, str(number).encode()) for number in range(10)))

    assert is_first.count(True) == 1
    assert await queue.get(KEY) == str(is_first.index(True)).encode()


async def test_whoever_knows_the_version_changes_the_object_and_learns_the_next_one(
    queue: VersionedObjectStore,
) -> None:
    await queue.put_if_absent(KEY, b"first")
    second = await queue.put_if_match(KEY, b"second", version=(await queue.get_versioned(KEY)).version)
    assert second is not None
    assert second == (await queue.get_versioned(KEY)).version

    assert await queue.put_if_match(KEY, b"third", version=second)
    assert await queue.get(KEY) == b"third"


async def test_whoever_knows_an_older_version_changes_nothing(queue: VersionedObjectStore) -> None:
    await queue.put_if_absent(KEY, b"first")
    first = (await queue.get_versioned(KEY)).version
    await queue.put_if_match(KEY, b"second", version=first)

    assert await queue.put_if_match(KEY, b"late", version=first) is None
    assert await queue.get(KEY) == b"second"


async def test_deleted_object_is_not_restored_by_a_write_with_its_version(queue: VersionedObjectStore) -> None:
    await queue.put_if_absent(KEY, b"first")
    version = (await queue.get_versioned(KEY)).version
    await queue.delete(KEY)

    assert await queue.put_if_match(KEY, b"late", version=version) is None
    assert not await queue.exists(KEY)


async def test_of_many_that_change_one_version_one_succeeds(queue: VersionedObjectStore) -> None:
    await queue.put_if_absent(KEY, b"first")
    version = (await queue.get_versioned(KEY)).version

    written = await asyncio.gather(
        *(queue.put_if_match(KEY, b"by %d" % number, version=version) for number in range(20))
    )

    [winner] = [number for number, one in enumerate(written) if one is not None]
    assert await queue.get(KEY) == b"by %d" % winner
    assert (await queue.get_versioned(KEY)).version == written[winner]


async def test_streamed_object_appears_whole_and_replaces_what_was_there(queue: VersionedObjectStore) -> None:
    await write(queue, "org/one/invoice/ab.pdf", b"older, and longer")
    async with queue.writer("org/one/invoice/ab.pdf") as writer:
        await writer.write(b"x" * (6 * MIB))
        info = await queue.find("org/one/invoice/ab.pdf")
        assert info is not None
        assert info.size_bytes == len(b"older, and longer")

    assert b"".join([piece async for piece in queue.read("org/one/invoice/ab.pdf")]) == b"x" * (6 * MIB)


async def write_and_raise(queue: VersionedObjectStore, key: str, data: bytes) -> None:
    async with queue.writer(key) as writer:
        await writer.write(data)
        raise RuntimeError("another hash")


async def test_block_that_raises_changes_nothing(queue: VersionedObjectStore) -> None:
    await write(queue, "a.pdf", b"before")
    for key, data in (("a.pdf", b"y" * (6 * MIB)), ("b.pdf", b"y")):
        with pytest.raises(RuntimeError, match="hash"):
            await write_and_raise(queue, key, data)

    assert await queue.get("a.pdf") == b"before"
    assert not await queue.exists("b.pdf")


async def test_what_is_there_has_a_size_and_a_time(queue: VersionedObjectStore) -> None:
    await queue.put_if_absent(KEY, b"12345")

    info = await queue.find(KEY)
    assert info is not None
    assert (info.key, info.size_bytes) == (KEY, 5)
    assert abs(info.modified_at - datetime.now(UTC)) < timedelta(minutes=5)
    assert await queue.exists(KEY)


async def test_what_is_not_there_is_said_to_be_missing(queue: VersionedObjectStore) -> None:
    assert await queue.find("none/x") is None
    assert not await queue.exists("none/x")
    with pytest.raises(ObjectNotFound):
        await queue.get_versioned("none/x")
    with pytest.raises(ObjectNotFound):
        await anext(queue.read("none/x"))
    assert await queue.put_if_match("none/x", b"", version="0" * 64) is None


async def test_deleting_twice_is_no_error(queue: VersionedObjectStore) -> None:
    await queue.put_if_absent(KEY, b"first")
    await queue.delete(KEY)
    await queue.delete(KEY)

    assert await keys(queue) == []


async def test_keys_are_listed_in_order_from_where_one_left_off(queue: VersionedObjectStore) -> None:
    for key in ("org/b/1.pdf", "org/a/2.pdf", "org/a/1.pdf", "lease"):
        await queue.put_if_absent(key, b"x")

    assert await keys(queue) == ["lease", "org/a/1.pdf", "org/a/2.pdf", "org/b/1.pdf"]
    assert await keys(queue, "org/a/") == ["org/a/1.pdf", "org/a/2.pdf"]
    assert await keys(queue, "org/", after="org/a/1.pdf") == ["org/a/2.pdf", "org/b/1.pdf"]


async def test_bad_key_is_refused(queue: VersionedObjectStore) -> None:
    for key in ("", "../x", "a/.lock", ".lock"):
        for asking in (
            queue.put_if_absent(key, b""),
            queue.put_if_match(key, b"", version="x"),
            queue.get_versioned(key),
            queue.find(key),
            queue.delete(key),
            write(queue, key, b""),
        ):
            with pytest.raises(ValueError, match="key"):
                await asking


async def test_store_finds_itself_in_order_and_leaves_nothing(queue: VersionedObjectStore) -> None:
    await queue.check()

    assert await keys(queue) == []


async def test_two_who_share_a_folder_share_its_versions(tmp_path: Path) -> None:
    one, other = VersionedFolderStore(tmp_path), VersionedFolderStore(tmp_path)
    await one.put_if_absent(KEY, b"first")
    version = (await other.get_versioned(KEY)).version

    written = await asyncio.gather(
        one.put_if_match(KEY, b"one", version=version), other.put_if_match(KEY, b"two", version=version)
    )

    assert written.count(None) == 1


async def test_folder_that_disappeared_is_unavailable_and_not_empty(tmp_path: Path) -> None:
    queue = VersionedFolderStore(tmp_path / "queue")
    await queue.put_if_absent(KEY, b"first")
    (tmp_path / "queue").rename(tmp_path / "elsewhere")

    for asking in (queue.exists(KEY), queue.delete(KEY), queue.put_if_match(KEY, b"", version="x"), keys(queue)):
        with pytest.raises(Unavailable):
            await asking


class UnconditionalStore(VersionedFolderStore):
    """Accepts every change regardless of its version, as some servers do."""

    async def put_if_match(self, key: str, data: bytes, *, version: str, content_type: str | None = None) -> str | None:
        return await super().put_if_match(key, data, version=(await self.get_versioned(key)).version)


async def test_store_without_conditional_changes_is_found_out(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="If-Match"):
        await probe_versioned_store(UnconditionalStore(tmp_path))


async def test_objects_in_a_bucket_have_their_content_types(empty_s3_server: SeaweedFS) -> None:
    queue = build_s3_store(empty_s3_server)
    for key, data in (("small.pdf", b"%PDF-"), ("large.pdf", b"x" * (6 * MIB))):
        async with queue.writer(key, content_type="application/pdf") as writer:
            await writer.write(data)
    await queue.put_if_absent(KEY, b"{}", content_type="application/json")
    await queue.put_if_match(KEY, b"[]", version=(await queue.get_versioned(KEY)).version)

    store = build_s3_client(empty_s3_server.address)
    types = [await content_type(store, key) for key in ("small.pdf", "large.pdf", KEY)]
    assert types == ["application/pdf", "application/pdf", "application/json"]
    await queue.close()


async def content_type(store: S3Store, key: str) -> str | None:
    url = await sign_async(store, "GET", key, timedelta(minutes=1))
    with await asyncio.to_thread(urlopen, Request(url)) as answer:
        found: str | None = answer.headers["Content-Type"]
        return found
