"""Parse the headers of an upload: the boundary, and the name and file name of each part."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from muniment.errors import Invalid

# A backslash is kept unless it precedes a quote or another backslash: browsers do not escape `C:\fakepath\x.pdf`.
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
    """One file of an upload. Everything in it is claimed by the client."""

    name: str
    """Name of the form field."""
    file_name: str
    content_type: str


@dataclass(frozen=True)
class FieldPart:
    name: str


def parse_boundary(content_type: str | None) -> bytes:
    """Return the boundary of a Content-Type header, or raise `MalformedUpload`."""
    kind, parameters = _parse_value(content_type or "")
    if kind != "multipart/form-data":
        raise MalformedUpload("Send the file as multipart/form-data")
    boundary = parameters.get("boundary", "")
    if not _BOUNDARY.fullmatch(boundary):
        raise MalformedUpload("The Content-Type of the upload has no valid boundary")
    return boundary.encode("ascii")


def parse_part(headers: Mapping[str, bytes]) -> FilePart | FieldPart:
    """Parse the headers of a part, whose names are in lower case, or raise `MalformedUpload`."""
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
    """Split `value; key=word; key="quoted"`. Duplicate keys are refused, because they are ambiguous."""
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
    """Decode the three characters that browsers escape in a file name; they leave `%` itself alone."""
    return name.replace("%22", '"').replace("%0D", "\r").replace("%0A", "\n")


def _parse_extended(value: str) -> str:
    """Parse an extended value such as `UTF-8''na%C3%AFve.pdf` (RFC 5987)."""
    found = _EXTENDED.fullmatch(value)
    if found is None:
        raise MalformedUpload("The upload has an invalid file name")
    try:
        return unquote(found[2], encoding=found[1], errors="strict")
    except UnicodeDecodeError:
        raise MalformedUpload("The names in an upload must be in UTF-8") from None
