"""Read a multipart/form-data upload from the request stream in constant memory.

Nothing is pulled from the stream before it is needed, so that a slow consumer slows the sender down.
"""

from collections.abc import AsyncIterator

from muniment.http.multipart.headers import FieldPart, FilePart, MalformedUpload, parse_boundary
from muniment.http.multipart.parser import MAX_PARTS, EndMarker, Event, PartParser

__all__ = ["FilePart", "IncomingForm", "MalformedUpload"]

MAX_FIELDS = 32
MAX_FIELD_BYTES = 16 * 1024


class IncomingForm:
    """One upload: text fields in any order around one file, or in front of several.

    Every method raises `MalformedUpload` if the body is malformed or truncated. A file is complete only when `finish`
    or `next_file` has returned after it; nothing of it may be used before.
    """

    fields: dict[str, str]
    """The text fields seen so far."""
    is_broken: bool
    """Whether reading the body has failed, so that nothing more can be read."""

    def __init__(self, stream: AsyncIterator[bytes], content_type: str | None, *, max_files: int = 1) -> None:
        """Raise `MalformedUpload` if the request is not multipart/form-data or has no boundary.

        The body is malformed if it has many more parts than `max_files` files and their fields.
        """
        self.fields = {}
        self.is_broken = False
        self._stream = stream
        self._parser = PartParser(parse_boundary(content_type), max_parts=MAX_PARTS - 1 + max_files)
        self._error: MalformedUpload | None = None
        self._is_in_file = False
        self._is_complete = False

    async def next_file(self) -> FilePart | None:
        """Skip to the next part with a file name and return it, or `None` at the end."""
        async for _ in self.iter_chunks():
            pass
        while not isinstance(part := await self._next_event(), FilePart):
            if not isinstance(part, FieldPart):
                return None
            try:
                await self._read_field(part.name)
            except MalformedUpload:
                self.is_broken = True
                raise
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

    def refuse_more_fields(self) -> None:
        """Make every further text field malformed: what it applies to has been used."""
        self._is_complete = True

    async def _read_field(self, name: str) -> None:
        if self._is_complete:
            raise MalformedUpload("Send the fields of an upload in front of its files")
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
        try:
            while not events:
                await self._feed_parser()
        except BaseException:
            self.is_broken = True
            raise
        # The end stays queued for repeated calls.
        return events[0] if events[0] is EndMarker.FORM else events.popleft()

    async def _feed_parser(self) -> None:
        # Only now, after the events in front of the error: the result must not depend on the size of the chunks.
        if self._error is not None:
            raise self._error
        chunk = await anext(self._stream, None)
        if chunk is None:
            raise MalformedUpload("The upload ended before its last boundary")
        try:
            self._parser.feed(chunk)
        except MalformedUpload as error:
            self._error = error
