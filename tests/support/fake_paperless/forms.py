"""Parser of multipart/form-data, as far as clients use it."""

import re
from dataclasses import dataclass

from tests.support.fake_paperless.call import refuse, refuse_text
from tests.support.fake_paperless.wire import Request

_MOST_FIELD_BYTES = 2_621_440


@dataclass
class Part:
    name: str
    file_name: str | None
    content: bytes


def parts_of(request: Request) -> list[Part]:
    """Return no parts for a chunked body: Paperless finds no length and reads nothing."""
    content_type = request.headers.get("content-type", "")
    if not content_type.startswith("multipart/form-data"):
        kind = content_type.split(";")[0]
        raise refuse(415, {"detail": f'Unsupported media type "{kind}" in request.'})
    if request.is_chunked:
        return []
    boundary = re.search(r'boundary="?([^";]+)', content_type)
    if boundary is None:
        raise refuse(400, {"detail": "Multipart form parse error - Invalid boundary in multipart: None"})
    pieces = request.body.split(b"--" + boundary[1].encode())[1:-1]
    return [_part(piece) for piece in pieces]


def _part(piece: bytes) -> Part:
    head, _, content = piece.partition(b"\r\n\r\n")
    disposition = head.decode()
    name = re.search(r'[; ]name="([^"]*)"', disposition)
    file_name = re.search(r'filename="([^"]*)"', disposition)
    part = Part(name[1] if name else "", _unescaped(file_name[1]) if file_name else None, content[:-2])
    if part.file_name is None and len(part.content) > _MOST_FIELD_BYTES:
        raise refuse_text(400, "<!doctype html><title>Bad Request (400)</title>")
    return part


def _unescaped(name: str) -> str:
    return name.replace("%22", '"').replace("%0D", "\r").replace("%0A", "\n")
