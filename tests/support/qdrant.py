"""Qdrant without a server, working or with one fault, and HTTP servers that misbehave."""

import asyncio
import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any
from uuid import UUID, uuid4

from qdrant_client import AsyncQdrantClient
from qdrant_client.models import UpdateResult, UpdateStatus

from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work
from muniment.storage.vectors.port import IndexedDocument, IndexingVariant, Point

MODEL = IndexingVariant(model="of the tests", dimensions=2, fingerprint="first")
OTHER_MODEL = IndexingVariant(model="of the tests, anew", dimensions=3, fingerprint="second")
NO_WORK: Work[Service] = Work(None, Service())  # type: ignore[arg-type]  # Qdrant does not use the session


class LocalQdrant(AsyncQdrantClient):
    """The client's local mode. It has no payload indexes and warns about it; here it records which were requested."""

    def __init__(self) -> None:
        super().__init__(":memory:")
        self.indexed: set[tuple[str, str]] = set()

    async def create_payload_index(
        self, collection_name: str, field_name: str, *args: Any, **options: Any
    ) -> UpdateResult:
        self.indexed.add((collection_name, field_name))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return await super().create_payload_index(collection_name, field_name, *args, **options)


class NonDeletingQdrant(LocalQdrant):
    """Reports deletions that it did not make, for the given number of times."""

    def __init__(self, lies: int) -> None:
        super().__init__()
        self.lies = lies

    async def delete(self, *args: Any, **options: Any) -> UpdateResult:
        if self.lies:
            self.lies -= 1
            return UpdateResult(operation_id=0, status=UpdateStatus.COMPLETED)
        return await super().delete(*args, **options)


class AcknowledgingQdrant(LocalQdrant):
    """Acknowledges a change that it has not made yet."""

    async def set_payload(self, *args: Any, **options: Any) -> UpdateResult:
        return UpdateResult(operation_id=0, status=UpdateStatus.ACKNOWLEDGED)


def a_document(kb_id: UUID | None = None) -> IndexedDocument:
    return IndexedDocument(uuid4(), kb_id or uuid4(), uuid4())


def points(*vectors: tuple[float, ...]) -> list[Point]:
    return [Point(index, page_number=index + 1, vector=vector) for index, vector in enumerate(vectors)]


@asynccontextmanager
async def serving(answer: Callable[[bytes], bytes] | None) -> AsyncIterator[str]:
    """Yield the address of an HTTP server that sends `answer` to each request, or nothing."""
    connections = set[asyncio.Task[None]]()

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connections.add(task)
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            if answer is None:
                await asyncio.Event().wait()
            else:
                writer.write(answer(head))
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    server = await asyncio.start_server(converse, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    try:
        yield f"http://{host}:{port}"
    finally:
        server.close()
        for task in connections:
            task.cancel()
        # All sockets are closed here, and not by the garbage collector during another test.
        await asyncio.gather(*connections, return_exceptions=True)
        await server.wait_closed()


def status(code: int, body: bytes = b"{}") -> Callable[[bytes], bytes]:
    head = f"HTTP/1.1 {code} Said\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return lambda _: head.encode() + b"Connection: close\r\n\r\n" + body
