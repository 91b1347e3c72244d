"""Read a multipart/form-data upload from the request stream in constant memory.

Nothing is pulled from the stream before it is needed, so that a slow consumer slows the sender down.
"""

from collections.abc import AsyncIterator

from muniment.http.multipart.headers import FieldPart, FilePart, MalformedUpload, parse_boundary
from muniment.http.multipart.parser import EndMarker, Event, PartParser

__all__ = ["FilePart", "IncomingForm", "MalformedUpload"]

MAX_FIELDS = 32
MAX_FIELD_BYTES = 16 * 1024


class IncomingForm:
    """One upload: text fields in any order around one file.

    Every method raises `MalformedUpload` if the body is malformed or truncated. The body is complete only when `finish`
    has returned; nothing of the file may be used before.
    """

    fields: dict[str, str]
    """The text fields seen so far."""

    def __init__(self, stream: AsyncIterator[bytes], content_type: str | None) -> None:
        """Raise `MalformedUpload` if the request is not multipart/form-data or has no boundary."""
        self.fields = {}
        self._stream = stream
        self._parser = PartParser(parse_boundary(content_type))
        self._is_in_file = False

    async def next_file(self) -> FilePart | None:
        """Skip to the next part with a file name and return it, or `None` at the end."""
        async for _ in self.iter_chunks():
            pass
        while not isinstance(part := await self._next_event(), FilePart):
            if not isinstance(part, FieldPart):
                return None
            await self._read_field(part.name)
        self._is_in_file = True
        return part

    async def iter_chunks(self) -> AsyncIterator[bytes]:
        """Yield the bytes of the current file as they arrive."""
        while self._is_in_file:
            event = await self._next_event()
            if isinstance(event, bytes):
                yield event
            else:
                self._is_in_file = False

    async def finish(self) -> None:
        """Read the text fields after the file. Anything after the last boundary is not read."""
        if await self.next_file() is not None:
            raise MalformedUpload("Send one file per request")

    async def _read_field(self, name: str) -> None:
        if name in self.fields:
            raise MalformedUpload("The upload contains a field twice")
        if len(self.fields) == MAX_FIELDS:
            raise MalformedUpload(f"An upload can have at most {MAX_FIELDS} fields")
        value = b""
        while isinstance(event := await self._next_event(), bytes):
            value += event
            if len(value) > MAX_FIELD_BYTES:
                raise MalformedUpload(f"A form field can have at most {MAX_FIELD_BYTES} bytes")
        try:
            self.fields[name] = value.decode()
        except UnicodeDecodeError:
            raise MalformedUpload("The fields of an upload must be in UTF-8") from None

    async def _next_event(self) -> Event:
        events = self._parser.events
        while not events:
            chunk = await anext(self._stream, None)
            if chunk is None:
                raise MalformedUpload("The upload ended before its last boundary")
            self._parser.feed(chunk)
        # The end stays queued for repeated calls.
        return events[0] if events[0] is EndMarker.FORM else events.popleft()
