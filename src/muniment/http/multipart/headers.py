"""Parse the headers of an upload: the boundary, and the name and file name of each part."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from muniment.errors import Invalid

# A backslash is kept unless it stands before a quote or another one: browsers do not escape `C:\fakepath\x.pdf`.
_PARAMETER = re.compile(r'[ \t]*;[ \t]*([^\s=;"]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\["\\]?)*+)"|([^\s;"]*))[ \t]*')
_ESCAPED = re.compile(r'\\(["\\])')
_EXTENDED = re.compile(r"(utf-8|iso-8859-1)'[^']*'(.*)", re.IGNORECASE)
_BOUNDARY = re.compile(r"[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]")  # RFC 2046, 5.1.1
_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_PLAIN_ENCODINGS = frozenset({"", "7bit", "8bit", "binary"})


class MalformedUpload(Invalid):
    """The upload is not a well-formed multipart/form-data body"""


@dataclass(frozen=True)
class FilePart:
    """One file on its way in. Everything in it is a claim of the client."""

    name: str
    """Of the form field."""
    file_name: str
    content_type: str


@dataclass(frozen=True)
class FieldPart:
    name: str


def parse_boundary(content_type: str | None) -> bytes:
    """The boundary in the Content-Type of a request, or `MalformedUpload`."""
    kind, parameters = _parse_value(content_type or "")
    if kind != "multipart/form-data":
        raise MalformedUpload("Send the file as multipart/form-data")
    boundary = parameters.get("boundary", "")
    if not _BOUNDARY.fullmatch(boundary):
        raise MalformedUpload("The Content-Type of the upload has no valid boundary")
    return boundary.encode("ascii")


def parse_part(headers: Mapping[str, bytes]) -> FilePart | FieldPart:
    """What a part with these headers is, or `MalformedUpload`. The names of the headers are in lower case."""
    content_type = _decode(headers.get("content-type", b""))
    if content_type.lower().startswith("multipart/"):
        raise MalformedUpload("An upload cannot contain another multipart body")
    if _decode(headers.get("content-transfer-encoding", b"")).strip().lower() not in _PLAIN_ENCODINGS:
        raise MalformedUpload("Send the file without a Content-Transfer-Encoding")
    disposition, parameters = _parse_value(_decode(headers.get("content-disposition", b"")))
    if disposition != "form-data" or "name" not in parameters:
        raise MalformedUpload("Each part of the upload needs a Content-Disposition with a name")
    name = _unescape(parameters["name"])
    if "filename*" in parameters:
        return FilePart(name, _parse_extended(parameters["filename*"]), content_type)
    if "filename" in parameters:
        return FilePart(name, _unescape(parameters["filename"]), content_type)
    return FieldPart(name)


def _parse_value(header: str) -> tuple[str, dict[str, str]]:
    """Split `value; key=word; key="quoted"`. A key that comes twice could be read in two ways and is refused."""
    header = header.rstrip("; \t")
    value, _, _ = header.partition(";")
    at = len(value)
    parameters: dict[str, str] = {}
    while at < len(header):
        found = _PARAMETER.match(header, at)
        if found is None or found[1].lower() in parameters:
            raise MalformedUpload("The upload contains an invalid header")
        parameters[found[1].lower()] = found[3] if found[2] is None else _ESCAPED.sub(r"\1", found[2])
        at = found.end()
    return value.strip().lower(), parameters


def _decode(value: bytes) -> str:
    try:
        text = value.decode()
    except UnicodeDecodeError:
        raise MalformedUpload("The names in an upload must be in UTF-8") from None
    if _CONTROLS.search(text):
        raise MalformedUpload("The upload contains an invalid header")
    return text


def _unescape(name: str) -> str:
    """Undo what browsers do to the three characters that would end a header early; a `%` itself they leave alone."""
    return name.replace("%22", '"').replace("%0D", "\r").replace("%0A", "\n")


def _parse_extended(value: str) -> str:
    """Read `UTF-8''na%C3%AFve.pdf` (RFC 5987)."""
    found = _EXTENDED.fullmatch(value)
    if found is None:
        raise MalformedUpload("The upload has an invalid file name")
    try:
        return unquote(found[2], encoding=found[1], errors="strict")
    except UnicodeDecodeError:
        raise MalformedUpload("The names in an upload must be in UTF-8") from None
