"""Parse a multipart body into events, without reading anything itself.

python-multipart's push parser does the work. This adds limits, and bodies that do not begin with their first boundary.
"""

from collections import deque
from enum import Enum, auto

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser

from muniment.http.multipart.headers import FieldPart, FilePart, MalformedUpload, parse_part

MAX_PARTS = 64
MAX_HEADER_BYTES = 16 * 1024
MAX_PREAMBLE_BYTES = 16 * 1024


class EndMarker(Enum):
    PART = auto()
    FORM = auto()


Event = FilePart | FieldPart | bytes | EndMarker


class PartParser:
    """Turns each `feed` into `events`: a part, its bytes, its end, the next part, …, the end of the form."""

    def __init__(self, boundary: bytes, *, max_parts: int = MAX_PARTS) -> None:
        self.events: deque[Event] = deque()
        self._delimiter = b"\r\n--" + boundary
        # As if a line had just ended, because the body may begin with the boundary.
        self._preamble: bytes | None = b"\r\n"
        self._part_count = 0
        self._max_parts = max_parts
        self._headers: dict[str, bytes] = {}
        self._header_bytes = 0
        self._header_name = self._header_value = b""
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin_part,
                "on_header_field": self._add_to_header_name,
                "on_header_value": self._add_to_header_value,
                "on_header_end": self._end_header,
                "on_headers_finished": lambda: self.events.append(parse_part(self._headers)),
                "on_part_data": lambda data, start, end: self.events.append(data[start:end]),
                "on_part_end": lambda: self.events.append(EndMarker.PART),
                "on_end": lambda: self.events.append(EndMarker.FORM),
            },
            max_header_size=MAX_HEADER_BYTES,
        )

    def feed(self, chunk: bytes) -> None:
        """Parse the next bytes. After `MalformedUpload` the parser cannot be used any more."""
        try:
            self._parser.write(self._without_preamble(chunk))
        except FormParserError:
            raise MalformedUpload from None

    def _without_preamble(self, chunk: bytes) -> bytes:
        if self._preamble is None:
            return chunk
        self._preamble += chunk
        at = self._preamble.find(self._delimiter)
        preamble_length = at if at >= 0 else len(self._preamble) - len(self._delimiter)
        if preamble_length > MAX_PREAMBLE_BYTES:
            raise MalformedUpload("The upload does not start with the boundary given in its Content-Type")
        if at < 0:
            return b""
        body, self._preamble = self._preamble[at + 2 :], None
        return body

    def _begin_part(self) -> None:
        self._headers = {}
        self._header_bytes = 0
        self._part_count += 1
        if self._part_count > self._max_parts:
            raise MalformedUpload(f"An upload can have at most {self._max_parts} parts")

    def _add_to_header_name(self, data: bytes, start: int, end: int) -> None:
        self._count_header_bytes(end - start)
        self._header_name += data[start:end]

    def _add_to_header_value(self, data: bytes, start: int, end: int) -> None:
        self._count_header_bytes(end - start)
        self._header_value += data[start:end]

    def _count_header_bytes(self, count: int) -> None:
        self._header_bytes += count
        if self._header_bytes > MAX_HEADER_BYTES:
            raise MalformedUpload("The headers of an upload part are too long")

    def _end_header(self) -> None:
        name = self._header_name.decode("ascii").lower()
        if name in self._headers:
            raise MalformedUpload("An upload part contains a header twice")
        self._headers[name] = self._header_value
        self._header_name = self._header_value = b""
