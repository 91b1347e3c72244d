"""List the entries of a ZIP file from its first and last bytes, to tell apart office documents, which are ZIP files.

The directory at the end of the file is authoritative. If it is too long to be seen whole, the entries at the beginning
of the file complete it. Signatures are never searched for inside stored data: a ZIP file that contains a Word document
is not a Word document.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct

LOCAL_SIGNATURE = b"PK\x03\x04"
_DIRECTORY_SIGNATURE = b"PK\x01\x02"
_END_SIGNATURE = b"PK\x05\x06"
_END64_SIGNATURE = b"PK\x06\x06"
_LOCATOR64_SIGNATURE, _LOCATOR64_BYTES = b"PK\x06\x07", 20

_LOCAL = Struct("<6xHH8xL4xHH")  # flags, method, packed size, lengths of name and extra field
_DIRECTORY = Struct("<10xH8xL4xHHH8xL")  # method, packed size, lengths of name, extra field and comment, offset
_END = Struct("<12xL6x")  # size of the directory
_END64 = Struct("<40xQ8x")

_STORED, _DEFLATED = 0, 8
_HAS_DATA_DESCRIPTOR = 0x08


@dataclass(frozen=True)
class ZipEntry:
    """An entry of a ZIP file."""

    name: str
    """Name in lower case and with slashes, because writers differ in both."""
    method: int
    packed_bytes: int
    offset: int


def list_entries(head: bytes, tail: bytes) -> list[ZipEntry]:
    """Return the entries that can be found: all of them, unless the directory is longer than `tail`."""
    end = tail.rfind(_END_SIGNATURE)
    (size,) = _unpack(_END, _END_SIGNATURE, tail, end) or (0,)
    if tail.startswith(_LOCATOR64_SIGNATURE, end - _LOCATOR64_BYTES):
        end = tail.rfind(_END64_SIGNATURE, 0, end)
        (size,) = _unpack(_END64, _END64_SIGNATURE, tail, end) or (0,)
    if size <= max(end, 0):
        return list(_directory_entries(tail, end - size))
    return [*_local_entries(head), *_directory_entries(tail, tail.find(_DIRECTORY_SIGNATURE))]


def read_entry_start(head: bytes, entry: ZipEntry, limit: int) -> bytes:
    """Return up to `limit` bytes of an entry's content, or nothing if they are outside `head` or damaged."""
    fields = _unpack(_LOCAL, LOCAL_SIGNATURE, head, entry.offset)
    if fields is None:
        return b""
    _, _, _, name, extra = fields
    start = entry.offset + _LOCAL.size + name + extra
    packed = head[start : start + entry.packed_bytes]
    if entry.method == _STORED:
        return packed[:limit]
    try:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, limit)
    except zlib.error:
        return b""


def _directory_entries(tail: bytes, at: int) -> Iterator[ZipEntry]:
    while fields := _unpack(_DIRECTORY, _DIRECTORY_SIGNATURE, tail, at):
        method, packed_bytes, name, extra, comment, offset = fields
        at += _DIRECTORY.size
        yield ZipEntry(_decode_name(tail[at : at + name]), method, packed_bytes, offset)
        at += name + extra + comment


def _local_entries(head: bytes) -> Iterator[ZipEntry]:
    at = 0
    while fields := _unpack(_LOCAL, LOCAL_SIGNATURE, head, at):
        flags, method, packed_bytes, name, extra = fields
        start = at + _LOCAL.size
        yield ZipEntry(_decode_name(head[start : start + name]), method, packed_bytes, at)
        at = start + name + extra + packed_bytes
        if flags & _HAS_DATA_DESCRIPTOR:
            # Packed data does not look like a signature. Stored data may, so nothing after it can be trusted.
            at = head.find(LOCAL_SIGNATURE, at) if method == _DEFLATED else len(head)


def _decode_name(raw: bytes) -> str:
    return raw.decode("latin-1").replace("\\", "/").lower()


def _unpack(layout: Struct, signature: bytes, data: bytes, at: int) -> tuple[int, ...] | None:
    is_present = 0 <= at <= len(data) - layout.size and data.startswith(signature, at)
    return layout.unpack_from(data, at) if is_present else None
