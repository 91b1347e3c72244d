"""Page and figure images, rendered in the sandbox on demand. The caller's access has been checked before.

They are cached in memory only: a cache on disk would be one more store to purge.
"""

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import BinaryIO, Protocol
from uuid import UUID

import structlog

from muniment.documents.repository import OriginalMissing
from muniment.errors import Invalid, TooManyRequests, Unsupported
from muniment.processing.readers.contract import Box, Image
from muniment.processing.readers.errors import Code, Unreadable
from muniment.storage.objects.port import BlobNotFound, Blobs
from muniment.storage.objects.temporary_copy import local_copy


class PictureCache:
    """Holds at most `max_bytes`; what nobody has asked for longest goes first."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._held_bytes = 0
        self._pictures: OrderedDict[Hashable, bytes] = OrderedDict()

    def find(self, key: Hashable) -> bytes | None:
        found = self._pictures.get(key)
        if found is not None:
            self._pictures.move_to_end(key)
        return found

    def keep(self, key: Hashable, picture: bytes) -> None:
        """One that is larger than the whole cache is not kept."""
        if len(picture) > self._max_bytes:
            return
        self._held_bytes += len(picture) - len(self._pictures.pop(key, b""))
        self._pictures[key] = picture
        while self._held_bytes > self._max_bytes:
            _, gone = self._pictures.popitem(last=False)
            self._held_bytes -= len(gone)


log = structlog.get_logger()


CACHE_BYTES = 64 * 1024 * 1024


WAITING_OF_ONE = 8


AT_ONCE = 2
"""Each holds a copy of an original and a process: more would only make all of them slower."""


class TooManyPictures(TooManyRequests):
    """Too many images requested at once. Try again shortly"""


class NoPicture(Unsupported):
    """Page images are not available for this file type"""


class NotDrawable(Invalid):
    """This image cannot be rendered"""


class Renderer(Protocol):
    """Draws where a file can do no harm; raises `Unreadable`, or `Unavailable` when it does not run."""

    async def page_picture(self, file: BinaryIO, media_type: str, page_number: int, width_px: int) -> Image: ...

    async def figure_picture(
        self, file: BinaryIO, media_type: str, page_number: int, box: Box | None, source: str | None
    ) -> Image: ...

    async def close(self) -> None: ...


@dataclass(frozen=True)
class Original:
    document_id: UUID
    revision: int
    key: str
    media_type: str


class View(Hashable, Protocol):
    """What of an original is to be seen."""

    async def draw(self, renderer: Renderer, file: BinaryIO, media_type: str) -> Image: ...


@dataclass(frozen=True)
class PageView:
    page_number: int
    width_px: int

    async def draw(self, renderer: Renderer, file: BinaryIO, media_type: str) -> Image:
        return await renderer.page_picture(file, media_type, self.page_number, self.width_px)

    def require(self, media_type: str) -> None:
        """Before the original is fetched for nothing."""
        if media_type != "application/pdf" and not media_type.startswith("image/"):
            raise NoPicture

    def __str__(self) -> str:
        return f"{self.page_number}-{self.width_px}"


@dataclass(frozen=True)
class FigureView:
    key: str
    page_number: int
    box: Box | None
    source: str | None

    async def draw(self, renderer: Renderer, file: BinaryIO, media_type: str) -> Image:
        return await renderer.figure_picture(file, media_type, self.page_number, self.box, self.source)

    def __str__(self) -> str:
        return self.key


@dataclass
class _Drawing:
    task: asyncio.Task[bytes]
    waiting: int = 0


class Pictures:
    """Two that ask for the same picture at the same time wait for one drawing."""

    def __init__(self, blobs: Blobs, renderer: Renderer, *, cache_bytes: int = CACHE_BYTES) -> None:
        self._blobs = blobs
        self._renderer = renderer
        self._cache = PictureCache(cache_bytes)
        self._free = asyncio.Semaphore(AT_ONCE)
        self._drawing: dict[Hashable, _Drawing] = {}
        self._waiting: Counter[UUID] = Counter()

    async def get(self, original: Original, view: View, user_id: UUID) -> bytes:
        """The picture as PNG. One person waits for a few at a time, so that others get theirs."""
        key = (original.document_id, original.revision, view)
        if (known := self._cache.find(key)) is not None:
            return known
        if self._waiting[user_id] >= WAITING_OF_ONE:
            raise TooManyPictures(retry_after_seconds=1)
        if key not in self._drawing:
            self._drawing[key] = _Drawing(asyncio.create_task(self._draw_once(key, original, view)))
        drawing = self._drawing[key]
        drawing.waiting += 1
        self._waiting[user_id] += 1
        try:
            # One who asked may hang up, and the others still wait for it; when nobody does, it ends.
            return await asyncio.shield(drawing.task)
        finally:
            self._waiting[user_id] -= 1
            drawing.waiting -= 1
            if not drawing.waiting:
                drawing.task.cancel()
                del self._drawing[key]

    async def close(self) -> None:
        await self._renderer.close()

    async def _draw_once(self, key: Hashable, original: Original, view: View) -> bytes:
        async with self._free:
            png = await self._draw(original, view)
        self._cache.keep(key, png)
        return png

    async def _draw(self, original: Original, view: View) -> bytes:
        try:
            async with local_copy(self._blobs, original.key) as file:
                return (await view.draw(self._renderer, file, original.media_type)).png
        except BlobNotFound:
            log.error("documents.original_missing", document_id=str(original.document_id), key=original.key)
            raise OriginalMissing from None
        except Unreadable as error:
            raise (NoPicture if error.code is Code.UNSUPPORTED else NotDrawable)(error.message) from None
