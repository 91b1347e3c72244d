"""Text packs: all text of one artifact in one object, one zstd frame per page, so that single pages can be read.

`key` names the object, `key#bytes=a-b` the frame of a page, `key#bytes=a-b&chars=s-e` a paragraph within that page.
Spans are half-open: the end is not included.
"""

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

import zstandard

from muniment.errors import MunimentError
from muniment.storage.concurrency import limit_concurrency
from muniment.storage.db.base import new_id
from muniment.storage.objects.port import ObjectStore

PAGE_SEPARATOR = "\f"
"""Ends every frame, so that the whole object unpacks to the full text."""
MAX_CONCURRENT_READS = 8
_LEVEL = 3
_DECOMPRESS_BYTES = 1024
"""Bytes of a pack that are decompressed at a time: repetitive text may expand a thousandfold."""
_URI = re.compile(r"(?P<key>[^#]+)#bytes=(?P<start>\d+)-(?P<end>\d+)(?:&chars=(?P<first>\d+)-(?P<last>\d+))?")


PageT = TypeVar("PageT")


class ArtifactDamaged(MunimentError):
    """The stored text is damaged. Contact your operator"""


@dataclass(frozen=True)
class StoredPageText:
    uri: str
    sha256: str


class TextPackWriter:
    """Collects the pages of a text pack, compressed in memory until it is complete."""

    def __init__(self, organization_id: UUID | None) -> None:
        # A fresh name: if two workers compute the same, the row names the winner and the other object is garbage.
        self.key = f"artifacts/{organization_id or 'shared'}/{new_id()}"
        self._frames = bytearray()
        self._full = hashlib.sha256()
        self._compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)

    def add_page(self, text: str) -> StoredPageText:
        data = (text + PAGE_SEPARATOR).encode()
        start = len(self._frames)
        self._frames += self._compressor.compress(data)
        self._full.update(data)
        return StoredPageText(f"{self.key}#bytes={start}-{len(self._frames)}", text_sha256(text))

    @property
    def getvalue(self) -> bytes:
        return bytes(self._frames)

    @property
    def sha256(self) -> str:
        """Of the full text."""
        return self._full.hexdigest()


def text_sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def paragraph_uri(page_uri: str, start: int, end: int) -> str:
    return f"{page_uri}&chars={start}-{end}"


def pack_key(uri: str) -> str:
    return uri.partition("#")[0]


async def read_page_text(objects: ObjectStore, uri: str, sha256: str) -> str:
    """Return the text of one page, or raise `ArtifactDamaged` if it is not what was stored."""
    match = _URI.fullmatch(uri)
    if match is None:
        raise ArtifactDamaged
    frame = bytearray()
    async for piece in objects.read(match["key"], start=int(match["start"]), end=int(match["end"])):
        frame += piece
    text = _unpack(bytes(frame)).removesuffix(PAGE_SEPARATOR)
    if text_sha256(text) != sha256:
        raise ArtifactDamaged
    return text


async def read_concurrently(read: Callable[[PageT], Awaitable[str]], pages: Collection[PageT]) -> list[str]:
    """Read the texts of several pages, a few at a time, and return them in the same order."""
    return await asyncio.gather(*map(limit_concurrency(read, MAX_CONCURRENT_READS), pages))


def _unpack(frame: bytes) -> str:
    try:
        return zstandard.ZstdDecompressor().decompressobj().decompress(frame).decode()
    except (zstandard.ZstdError, UnicodeDecodeError):
        raise ArtifactDamaged from None


async def stream_full_text(objects: ObjectStore, key: str, sha256: str) -> AsyncIterator[str]:
    """Stream the full text in pieces of whole characters; raise `ArtifactDamaged` by the end if it is damaged."""
    # `decompress` would stop after the first frame and not notice a truncated object.
    decompressor = zstandard.ZstdDecompressor().decompressobj(read_across_frames=True)
    rest, seen = b"", hashlib.sha256()
    try:
        async for piece in objects.read(key):
            for start in range(0, len(piece), _DECOMPRESS_BYTES):
                unpacked = decompressor.decompress(piece[start : start + _DECOMPRESS_BYTES])
                seen.update(unpacked)
                data = rest + unpacked
                whole = _complete_utf8_length(data)
                rest = data[whole:]
                yield data[:whole].decode()
    except (zstandard.ZstdError, UnicodeDecodeError):
        raise ArtifactDamaged from None
    if rest or seen.hexdigest() != sha256:
        raise ArtifactDamaged


def _complete_utf8_length(data: bytes) -> int:
    """Return the length up to the last complete character; UTF-8 has at most four bytes per character."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:  # the beginning of a character of several bytes
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return len(data) if length <= back else len(data) - back
        if byte < 0x80:
            return len(data) - back + 1
    return len(data)
