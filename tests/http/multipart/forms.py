"""Forms as a client sends them, and what is received."""

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field

from muniment.http.multipart.form import IncomingForm
from muniment.http.multipart.headers import FilePart

BOUNDARY = "----boundary"
CONTENT_TYPE = f"multipart/form-data; boundary={BOUNDARY}"


class Sender:
    """A request stream that counts the bytes read from it."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self.sent = 0

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        for chunk in self._chunks:
            self.sent += 1
            return chunk
        raise StopAsyncIteration


@dataclass
class Received:
    file: FilePart | None = None
    content: bytes = b""
    fields: dict[str, str] = field(default_factory=dict)


async def receive(*chunks: bytes, content_type: str = CONTENT_TYPE) -> Received:
    form = IncomingForm(Sender(chunks), content_type)
    received = Received(await form.next_file())
    received.content = b"".join([chunk async for chunk in form.iter_chunks()])
    await form.finish()
    received.fields = form.fields
    return received


def a_field(name: str, value: str | bytes) -> bytes:
    content = value.encode() if isinstance(value, str) else value
    return f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'.encode() + content + b"\r\n"


def a_file(content: bytes, file_name: str = "x.pdf") -> bytes:
    headers = f'Content-Disposition: form-data; name="file"; filename="{file_name}"\r\nContent-Type: application/pdf'
    return f"--{BOUNDARY}\r\n{headers}\r\n\r\n".encode() + content + b"\r\n"


END = f"--{BOUNDARY}--\r\n".encode()
PART = FilePart("file", "x.pdf", "application/pdf")
