"""Stores outside PostgreSQL that report each call and apply its fault."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from qdrant_client.http.exceptions import ResponseHandlingException

from muniment.errors import Unavailable
from muniment.storage.objects.folder.store import FolderObjectStore
from muniment.storage.objects.port import ObjectInfo, ObjectWriter
from tests.faults.moves.faults import Fault, Faults, Part
from tests.support.qdrant import LocalQdrant

T = TypeVar("T")


def _no_store() -> Unavailable:
    """Return the error of a store that is broken or slow: the outcome is unknown."""
    return Unavailable("The document store is not responding. Try again shortly")


@dataclass
class _Writer:
    writer: ObjectWriter
    faults: Faults

    async def write(self, chunk: bytes) -> None:
        write = partial(self.writer.write, chunk)
        await self.faults.outside(Part.OBJECTS, "write", write, _no_store(), _no_store())


class FaultyObjectStore(FolderObjectStore):
    faults = Faults()

    @asynccontextmanager
    async def writer(self, key: str, *, content_type: str | None = None) -> AsyncIterator[ObjectWriter]:
        async with super().writer(key, content_type=content_type) as writer:
            yield _Writer(writer, self.faults)
            fault = await self.faults.arrive(Part.OBJECTS, "keep")
            if fault in (Fault.FAILS, Fault.HANGS):
                raise _no_store()
        if fault is Fault.GETS_NO_ANSWER:
            raise _no_store()

    async def put(self, key: str, data: bytes) -> None:
        await self._met("put", super().put, key, data)

    async def put_if_absent(self, key: str, data: bytes, *, content_type: str | None = None) -> bool:
        return bool(
            await self._met("put if absent", partial(super().put_if_absent, content_type=content_type), key, data)
        )

    async def find(self, key: str) -> ObjectInfo | None:
        found: ObjectInfo | None = await self._met("find", super().find, key)
        return found

    async def delete(self, key: str) -> None:
        await self._met("delete", super().delete, key)

    async def read(self, key: str, *, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        if await self.faults.arrive(Part.OBJECTS, "read"):
            raise _no_store()
        async for piece in super().read(key, start=start, end=end):
            yield piece

    async def list(self, prefix: str = "", *, after: str = "") -> AsyncIterator[ObjectInfo]:
        if await self.faults.arrive(Part.OBJECTS, "list"):
            raise _no_store()
        async for info in super().list(prefix, after=after):
            yield info

    async def _met(self, what: str, call: Any, *arguments: Any) -> Any:
        return await self.faults.outside(Part.OBJECTS, what, partial(call, *arguments), _no_store(), _no_store())


class FaultyQdrant(LocalQdrant):
    faults = Faults()

    async def set_payload(self, *args: Any, **options: Any) -> Any:
        return await self._met("set_payload", super().set_payload, *args, **options)

    async def delete(self, *args: Any, **options: Any) -> Any:
        return await self._met("delete", super().delete, *args, **options)

    async def count(self, *args: Any, **options: Any) -> Any:
        return await self._met("count", super().count, *args, **options)

    async def collection_exists(self, *args: Any, **options: Any) -> Any:
        return await self._met("collection_exists", super().collection_exists, *args, **options)

    async def delete_collection(self, *args: Any, **options: Any) -> Any:
        return await self._met("delete_collection", super().delete_collection, *args, **options)

    async def _met(self, what: str, call: Any, *args: Any, **options: Any) -> Any:
        broken, late = ResponseHandlingException(ConnectionResetError()), TimeoutError()
        return await self.faults.outside(Part.INDEX, what, partial(call, *args, **options), broken, late)
