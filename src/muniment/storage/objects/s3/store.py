"""Object stores in S3 buckets, for more than one machine."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, suppress
from datetime import datetime
from typing import TYPE_CHECKING

from obstore.exceptions import AlreadyExistsError, PermissionDeniedError, UnauthenticatedError

from muniment.errors import Unavailable
from muniment.storage.objects.contract import probe_object_store, split_key, validate_listing, validate_range
from muniment.storage.objects.port import ObjectInfo, ObjectNotFound, ObjectStore, ObjectWriter
from muniment.storage.objects.s3.connection import (
    NO_SUCH_BUCKET,
    S3Address,
    build_s3_client,
    open_upload,
    translate_s3_errors,
)

if TYPE_CHECKING:  # obstore has these names for type checkers only
    from obstore import GetOptions, GetResult
from obstore.exceptions import PreconditionError

from muniment.storage.objects.contract import probe_versioned_store
from muniment.storage.objects.port import JSON_CONTENT_TYPE, PDF_CONTENT_TYPE, VersionedObject, VersionedObjectStore

if TYPE_CHECKING:  # obstore has this name for type checkers only
    from obstore import UpdateVersion


_PIECE_BYTES = 1024 * 1024


_LIST_PAGE = 1000


_INVALID_RANGE = "InvalidRange"


class S3ObjectStore(ObjectStore):
    """One bucket, addressed by path.

    What the bucket should have: no versioning, or a deleted object lives on as an old version; and a rule that aborts
    incomplete multipart uploads after a day, because a process that was killed cannot abort its own.
    """

    name = "s3"

    def __init__(self, address: S3Address) -> None:
        self._bucket = address.bucket
        self._endpoint = address.endpoint or "Amazon"
        self._store = build_s3_client(address)

    def writer(self, key: str) -> AbstractAsyncContextManager[ObjectWriter]:
        split_key(key)
        return open_upload(self._store, key)

    async def put(self, key: str, data: bytes) -> None:
        split_key(key)
        async with translate_s3_errors(timeout_seconds=None):
            await self._store.put_async(key, data, use_multipart=False)

    async def put_if_absent(self, key: str, data: bytes) -> bool:
        split_key(key)
        async with translate_s3_errors(timeout_seconds=None):
            try:
                await self._store.put_async(key, data, mode="create", use_multipart=False)
            except AlreadyExistsError:
                return False
        return True

    async def get(self, key: str) -> bytes:
        return b"".join([piece async for piece in self.read(key)])

    async def size_bytes(self, key: str) -> int:
        split_key(key)
        async with translate_s3_errors():
            return (await self._store.head_async(key))["size"]

    async def read(self, key: str, *, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        split_key(key)
        validate_range(start, end)
        if (result := await self._open(key, start, end)) is None:
            return
        pieces = result.stream(min_chunk_size=_PIECE_BYTES)
        while True:
            async with translate_s3_errors(timeout_seconds=None):
                piece = await anext(pieces, b"")
            if not piece:
                return
            yield piece

    async def delete(self, key: str) -> None:
        split_key(key)
        with suppress(ObjectNotFound):  # some stores say so, S3 itself does not
            async with translate_s3_errors():
                await self._store.delete_async(key)

    async def list(self, prefix: str = "", *, after: str = "") -> AsyncIterator[ObjectInfo]:
        """A `prefix` that ends in a slash is cheap; any other is filtered out of its folder."""
        validate_listing(prefix, after)
        folder, _, _ = prefix.rpartition("/")
        pages = self._store.list(folder or None, offset=after or None, chunk_size=_LIST_PAGE)
        last = after
        while True:
            async with translate_s3_errors():
                page = await anext(pages, None)
            if page is None:
                return
            for found in page:
                key = found["path"]
                if not key.startswith(prefix):
                    continue
                if key <= last:
                    raise Unavailable(f"The document store lists its keys out of order: {key} after {last}")
                last = key
                yield ObjectInfo(key, found["size"], found["last_modified"])

    async def delete_stale_uploads(self, *, before: datetime) -> int:
        """Always 0: obstore cannot list incomplete uploads. A rule of the bucket should abort them."""
        return 0

    async def check(self) -> None:
        try:
            async with translate_s3_errors():
                await probe_object_store(self)
        except Unavailable as error:
            if error.__cause__ is not None:
                raise Unavailable(self._explain(error.__cause__)) from error
            raise

    async def close(self) -> None:
        # The thread of obstore that delivers a result needs the interpreter a moment longer than we do, and a process
        # that ends in this moment is aborted (github.com/PyO3/pyo3-async-runtimes/issues/40).
        await asyncio.sleep(0.05)

    async def _open(self, key: str, start: int, end: int | None) -> "GetResult | None":
        """The answer to a request for these bytes, or `None` if there are none."""
        if start == end:
            await self.size_bytes(key)
            return None
        options: GetOptions = {}
        if (start, end) != (0, None):
            options["range"] = {"offset": start} if end is None else (start, end)
        try:
            async with translate_s3_errors():
                return await self._store.get_async(key, options=options)
        except Unavailable as error:
            if _INVALID_RANGE in str(error.__cause__):
                return None
            raise

    def _explain(self, cause: BaseException) -> str:
        if NO_SUCH_BUCKET in str(cause):
            return f"The object store {self._endpoint} has no bucket `{self._bucket}`. Create it or set another one"
        if isinstance(cause, PermissionDeniedError | UnauthenticatedError):
            return (
                f"The object store {self._endpoint} rejected the access keys. Check that they can read, write and "
                f"delete in the bucket `{self._bucket}`"
            )
        return f"The object store {self._endpoint} is not responding. Check its address and the network"


class VersionedS3Store(VersionedObjectStore):
    """One bucket, as in `S3ObjectStore`. A version is the ETag, and a change says `If-Match`.

    No rule of the bucket may expire its objects: what waits in a queue waits until it is archived.
    """

    name = "s3"

    def __init__(self, address: S3Address) -> None:
        self._objects = S3ObjectStore(address)
        self._store = build_s3_client(address)

    def writer(self, key: str, *, content_type: str = PDF_CONTENT_TYPE) -> AbstractAsyncContextManager[ObjectWriter]:
        split_key(key)
        return open_upload(self._store, key, content_type=content_type)

    async def put_if_absent(self, key: str, data: bytes, *, content_type: str = JSON_CONTENT_TYPE) -> bool:
        split_key(key)
        async with translate_s3_errors(timeout_seconds=None):
            try:
                await self._store.put_async(
                    key, data, mode="create", attributes={"Content-Type": content_type}, use_multipart=False
                )
            except AlreadyExistsError:
                return False
        return True

    async def put_if_match(
        self, key: str, data: bytes, *, version: str, content_type: str = JSON_CONTENT_TYPE
    ) -> str | None:
        split_key(key)
        matching: UpdateVersion = {"e_tag": version}
        with suppress(ObjectNotFound):
            async with translate_s3_errors(timeout_seconds=None):
                try:
                    put = await self._store.put_async(
                        key, data, mode=matching, attributes={"Content-Type": content_type}, use_multipart=False
                    )
                    return put["e_tag"] or (await self._current_version(key))
                except PreconditionError:
                    pass
            # A request whose answer was lost is sent again, and then fails because of itself.
            held = await self.get(key)
            return held.version if held.data == data else None
        return None

    async def get(self, key: str) -> VersionedObject:
        split_key(key)
        async with translate_s3_errors():
            found = await self._store.get_async(key)
            version = found.meta["e_tag"]
            data = bytes(await found.bytes_async())
        return VersionedObject(data, version or "")

    def read(self, key: str) -> AsyncIterator[bytes]:
        return self._objects.read(key)

    async def find(self, key: str) -> ObjectInfo | None:
        split_key(key)
        try:
            async with translate_s3_errors():
                found = await self._store.head_async(key)
        except ObjectNotFound:
            return None
        return ObjectInfo(key, found["size"], found["last_modified"])

    async def exists(self, key: str) -> bool:
        return await self.find(key) is not None

    def list(self, prefix: str = "", *, after: str = "") -> AsyncIterator[ObjectInfo]:
        return self._objects.list(prefix, after=after)

    async def delete(self, key: str) -> None:
        await self._objects.delete(key)

    async def check(self) -> None:
        await self._objects.check()
        await probe_versioned_store(self)

    async def close(self) -> None:
        await self._objects.close()

    async def _current_version(self, key: str) -> str | None:
        return (await self._store.head_async(key))["e_tag"]
