"""Object stores in S3 buckets, for more than one machine."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from obstore.exceptions import AlreadyExistsError, PermissionDeniedError, PreconditionError, UnauthenticatedError

from muniment.errors import Unavailable
from muniment.storage.objects.contract import (
    probe_object_store,
    probe_versioned_store,
    split_key,
    validate_listing,
    validate_range,
)
from muniment.storage.objects.port import (
    JSON_CONTENT_TYPE,
    ObjectInfo,
    ObjectNotFound,
    ObjectStore,
    ObjectWriter,
    VersionedObject,
    VersionedObjectStore,
)
from muniment.storage.objects.s3.connection import (
    NO_SUCH_BUCKET,
    S3Address,
    build_s3_client,
    content_type_attributes,
    open_upload,
    translate_s3_errors,
)

if TYPE_CHECKING:  # obstore has these names for type checkers only
    from obstore import GetOptions, GetResult, PutResult, UpdateVersion

_CHUNK_BYTES = 1024 * 1024
_LIST_PAGE = 1000
_INVALID_RANGE = "InvalidRange"


class S3ObjectStore(ObjectStore):
    """Store objects in one bucket, addressed by path.

    The bucket should have no versioning, because a deleted object would live on as an old version, and a rule that
    aborts incomplete multipart uploads after a day, because a killed process cannot abort its own.
    """

    name = "s3"

    def __init__(self, address: S3Address) -> None:
        self._bucket = address.bucket
        self._endpoint = address.endpoint or "Amazon"
        self._client = build_s3_client(address)

    def writer(self, key: str, *, content_type: str | None = None) -> AbstractAsyncContextManager[ObjectWriter]:
        split_key(key)
        return open_upload(self._client, key, content_type=content_type)

    async def put(self, key: str, data: bytes) -> None:
        async with translate_s3_errors(timeout_seconds=None):
            await self._put(key, data, mode="overwrite")

    async def put_if_absent(self, key: str, data: bytes, *, content_type: str | None = None) -> bool:
        async with translate_s3_errors(timeout_seconds=None):
            try:
                await self._put(key, data, mode="create", content_type=content_type)
            except AlreadyExistsError:
                return False
        return True

    async def find(self, key: str) -> ObjectInfo | None:
        split_key(key)
        try:
            async with translate_s3_errors():
                found = await self._client.head_async(key)
        except ObjectNotFound:
            return None
        return ObjectInfo(key, found["size"], found["last_modified"])

    async def read(self, key: str, *, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        split_key(key)
        validate_range(start, end)
        if (result := await self._open(key, start, end)) is None:
            return
        chunks = result.stream(min_chunk_size=_CHUNK_BYTES)
        while True:
            async with translate_s3_errors(timeout_seconds=None):
                chunk = await anext(chunks, b"")
            if not chunk:
                return
            yield chunk

    async def delete(self, key: str) -> None:
        split_key(key)
        with suppress(ObjectNotFound):  # some stores report a missing object, S3 itself does not
            async with translate_s3_errors():
                await self._client.delete_async(key)

    async def list(self, prefix: str = "", *, after: str = "") -> AsyncIterator[ObjectInfo]:
        """Yield objects in order of their keys. A `prefix` that ends in a slash is cheap; any other is filtered out of
        its folder."""
        validate_listing(prefix, after)
        folder, _, _ = prefix.rpartition("/")
        pages = self._client.list(folder or None, offset=after or None, chunk_size=_LIST_PAGE)
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
        """Return 0: obstore cannot list incomplete uploads. A rule of the bucket should abort them."""
        return 0

    async def check(self) -> None:
        async with self._explained():
            await probe_object_store(self)

    async def check_access(self) -> None:
        """List the bucket: a request for one object would not tell a missing bucket from a missing object."""
        async with self._explained():
            await anext(self.list("probe/"), None)

    @asynccontextmanager
    async def _explained(self) -> AsyncIterator[None]:
        try:
            async with translate_s3_errors():
                yield
        except Unavailable as error:
            if error.__cause__ is not None:
                raise Unavailable(self._explain(error.__cause__)) from error
            raise

    async def close(self) -> None:
        # The thread of obstore that delivers a result needs the interpreter a moment longer than we do, and a process
        # that ends in this moment is aborted (github.com/PyO3/pyo3-async-runtimes/issues/40).
        await asyncio.sleep(0.05)

    async def _put(
        self,
        key: str,
        data: bytes,
        *,
        mode: "Literal['create', 'overwrite'] | UpdateVersion",
        content_type: str | None = None,
    ) -> "PutResult":
        split_key(key)
        attributes = content_type_attributes(content_type)
        return await self._client.put_async(key, data, mode=mode, attributes=attributes, use_multipart=False)

    async def _open(self, key: str, start: int, end: int | None) -> "GetResult | None":
        """Request these bytes. Return `None` if the range is empty."""
        if start == end:
            await self.size_bytes(key)
            return None
        options: GetOptions = {}
        if (start, end) != (0, None):
            options["range"] = {"offset": start} if end is None else (start, end)
        try:
            async with translate_s3_errors():
                return await self._client.get_async(key, options=options)
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


class VersionedS3Store(S3ObjectStore, VersionedObjectStore):
    """A bucket whose versions are ETags. A change is a PUT with `If-Match`.

    No rule of the bucket may expire its objects: a queued job must wait until it is sent.
    """

    async def get_versioned(self, key: str) -> VersionedObject:
        split_key(key)
        async with translate_s3_errors():
            found = await self._client.get_async(key)
            version = found.meta["e_tag"]
            data = bytes(await found.bytes_async())
        return VersionedObject(data, version or "")

    async def put_if_match(
        self, key: str, data: bytes, *, version: str, content_type: str | None = JSON_CONTENT_TYPE
    ) -> str | None:
        with suppress(ObjectNotFound):
            async with translate_s3_errors(timeout_seconds=None):
                try:
                    put = await self._put(key, data, mode={"e_tag": version}, content_type=content_type)
                    return put["e_tag"] or (await self._client.head_async(key))["e_tag"]
                except PreconditionError:
                    pass
            # The client repeats a request whose response was lost, and the repetition fails because the first one
            # succeeded.
            current = await self.get_versioned(key)
            return current.version if current.data == data else None
        return None

    async def check(self) -> None:
        await super().check()
        await probe_versioned_store(self)
