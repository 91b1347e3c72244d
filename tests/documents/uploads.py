"""Uploads as clients send them, and checks for leftovers."""

import asyncio
import io
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import httpx
from reportlab.pdfgen.canvas import Canvas

from muniment.settings import Settings
from tests.support.live_api import RunningApi
from tests.support.seed import Person, Seed

BOUNDARY = "boundary-of-the-tests"
FILE_HEAD = (
    f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="report.pdf"\r\n'
    "Content-Type: application/pdf\r\n\r\n"
).encode()
END = f"\r\n--{BOUNDARY}--\r\n".encode()


def a_pdf(text: str = "A report") -> bytes:
    """A real PDF; equal texts give equal bytes."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, invariant=1)
    canvas.drawString(72, 720, text)
    canvas.save()
    return buffer.getvalue()


@dataclass(frozen=True)
class KB:
    """A knowledge base, its owner, and their client."""

    id: UUID
    owner: Person
    client: httpx.AsyncClient

    @property
    def path(self) -> str:
        return documents_path(self.id)

    async def upload(self, content: bytes | None = None, name: str = "report.pdf", **fields: str) -> httpx.Response:
        return await upload(self.client, self.id, content, name, **fields)


def documents_path(kb_id: UUID) -> str:
    return f"/api/v1/knowledge-bases/{kb_id}/documents"


async def upload(
    client: httpx.AsyncClient, kb_id: UUID, content: bytes | None = None, name: str = "report.pdf", **fields: str
) -> httpx.Response:
    content = a_pdf() if content is None else content
    return await client.post(documents_path(kb_id), files={"file": (name, content)}, data=fields)


def a_form(disposition: str, content: bytes | None = None) -> dict[str, Any]:
    """Return a body with one part and this Content-Disposition, which a client library might not send."""
    head = f"--{BOUNDARY}\r\nContent-Disposition: {disposition}\r\n\r\n".encode()
    return {
        "content": head + (a_pdf() if content is None else content) + END,
        "headers": {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"},
    }


@dataclass(frozen=True)
class Connection:
    """A client that sends arbitrary bytes."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def send_chunk(self, data: bytes) -> None:
        await self.send(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    async def status(self) -> int:
        line = await asyncio.wait_for(self.reader.readline(), 20)
        return int(line.split()[1])


@asynccontextmanager
async def connection(api: RunningApi) -> AsyncIterator[Connection]:
    url = httpx.URL(api.url)
    reader, writer = await asyncio.open_connection(url.host, url.port)
    try:
        yield Connection(reader, writer)
    finally:
        writer.close()


def request_head(kb_id: UUID, person: Person | None, length: int | None = None, *more: str) -> bytes:
    """Return the head of an upload; without a length its body is chunked."""
    lines = [
        f"POST {documents_path(kb_id)} HTTP/1.1",
        "Host: 127.0.0.1",
        f"Content-Type: multipart/form-data; boundary={BOUNDARY}",
        "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}",
        *(f"{name}: {value}" for name, value in (person.headers if person else {}).items()),
        *more,
    ]
    return "\r\n".join([*lines, "", ""]).encode()


async def until(condition: Callable[[], Awaitable[bool]], seconds: float = 120) -> None:
    """Wait for the condition, and fail when the time is over."""
    async with asyncio.timeout(seconds):
        while not await condition():  # noqa: ASYNC110  # it observes another process
            await asyncio.sleep(0.02)


async def until_begun(seed: Seed) -> None:
    """Wait until an upload is recorded and its file is being received."""

    async def is_noted() -> bool:
        return bool(seed.one("SELECT count(*) FROM uploads"))

    await until(is_noted)


async def stored_keys(api: RunningApi) -> list[str]:
    return [info.key async for info in api.stores.objects.list()]


def temporary_files(api: RunningApi) -> list[str]:
    return [path.name for path in (api.settings.server.data_dir / "blobs" / ".incoming").iterdir()]


async def is_nothing_left(api: RunningApi, seed: Seed) -> bool:
    """Return whether there is no row, no object, no temporary file and no open ledger entry."""
    rows = seed.one(
        "SELECT (SELECT count(*) FROM documents) + (SELECT count(*) FROM uploads)"
        " + (SELECT count(*) FROM deletions WHERE done_at IS NULL)"
    )
    return rows == 0 and not await stored_keys(api) and not temporary_files(api)


def with_documents(settings: Settings, **changes: Any) -> Settings:
    return settings.model_copy(update={"documents": settings.documents.model_copy(update=changes)})
