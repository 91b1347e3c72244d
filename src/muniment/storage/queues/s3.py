"""A queue in a bucket of any store that speaks S3, for more than one machine."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, suppress
from typing import TYPE_CHECKING

from obstore.exceptions import AlreadyExistsError, PreconditionError

from muniment.storage.blobs.keys import parts_of
from muniment.storage.blobs.port import BlobInfo, BlobNotFound, BlobWriter
from muniment.storage.blobs.s3 import S3Blobs
from muniment.storage.blobs.s3_address import S3Address
from muniment.storage.blobs.s3_connection import answered, connect
from muniment.storage.blobs.s3_upload import uploading
from muniment.storage.queues.port import JSON, PDF, Held, QueueStore
from muniment.storage.queues.probe import probe_versioned_store

if TYPE_CHECKING:  # obstore has this name for type checkers only
    from obstore import UpdateVersion


class S3Queue(QueueStore):
    """One bucket, as in `S3Blobs`. A version is the ETag, and a change says `If-Match`.

    No rule of the bucket may expire its objects: what waits in a queue waits until it is archived.
    """

    name = "s3"

    def __init__(self, address: S3Address) -> None:
        self._blobs = S3Blobs(address)
        self._store = connect(address)

    def writer(self, key: str, *, content_type: str = PDF) -> AbstractAsyncContextManager[BlobWriter]:
        parts_of(key)
        return uploading(self._store, key, content_type=content_type)

    async def put_new(self, key: str, data: bytes, *, content_type: str = JSON) -> bool:
        parts_of(key)
        async with answered(within_seconds=None):
            try:
                await self._store.put_async(
                    key, data, mode="create", attributes={"Content-Type": content_type}, use_multipart=False
                )
            except AlreadyExistsError:
                return False
        return True

    async def put_if(self, key: str, data: bytes, *, version: str, content_type: str = JSON) -> str | None:
        parts_of(key)
        matching: UpdateVersion = {"e_tag": version}
        with suppress(BlobNotFound):
            async with answered(within_seconds=None):
                try:
                    put = await self._store.put_async(
                        key, data, mode=matching, attributes={"Content-Type": content_type}, use_multipart=False
                    )
                    return put["e_tag"] or (await self._version(key))
                except PreconditionError:
                    pass
            # A request whose answer was lost is sent again, and then fails because of itself.
            held = await self.get(key)
            return held.version if held.data == data else None
        return None

    async def get(self, key: str) -> Held:
        parts_of(key)
        async with answered():
            found = await self._store.get_async(key)
            version = found.meta["e_tag"]
            data = bytes(await found.bytes_async())
        return Held(data, version or "")

    def read(self, key: str) -> AsyncIterator[bytes]:
        return self._blobs.read(key)

    async def find(self, key: str) -> BlobInfo | None:
        parts_of(key)
        try:
            async with answered():
                found = await self._store.head_async(key)
        except BlobNotFound:
            return None
        return BlobInfo(key, found["size"], found["last_modified"])

    async def exists(self, key: str) -> bool:
        return await self.find(key) is not None

    def list(self, prefix: str = "", *, after: str = "") -> AsyncIterator[BlobInfo]:
        return self._blobs.list(prefix, after=after)

    async def delete(self, key: str) -> None:
        await self._blobs.delete(key)

    async def check(self) -> None:
        await self._blobs.check()
        await probe_versioned_store(self)

    async def close(self) -> None:
        await self._blobs.close()

    async def _version(self, key: str) -> str | None:
        return (await self._store.head_async(key))["e_tag"]
