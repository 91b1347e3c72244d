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

from muniment.documents.media_types.types import has_page_images
from muniment.documents.originals import Original
from muniment.documents.repository import OriginalMissing
from muniment.errors import Invalid, TooManyRequests, Unsupported
from muniment.processing.readers.contract import Box, RenderedImage
from muniment.processing.readers.errors import Unreadable, UnreadableCode
from muniment.storage.objects.port import ObjectNotFound, ObjectStore


class ImageCache:
    """Least recently used cache of at most `max_bytes`."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._size_bytes = 0
        self._images: OrderedDict[Hashable, bytes] = OrderedDict()

    def find(self, key: Hashable) -> bytes | None:
        found = self._images.get(key)
        if found is not None:
            self._images.move_to_end(key)
        return found

    def put(self, key: Hashable, image: bytes) -> None:
        """Store an image, unless it is larger than the whole cache."""
        if len(image) > self._max_bytes:
            return
        self._size_bytes += len(image) - len(self._images.pop(key, b""))
        self._images[key] = image
        while self._size_bytes > self._max_bytes:
            _, gone = self._images.popitem(last=False)
            self._size_bytes -= len(gone)


log = structlog.get_logger()


CACHE_BYTES = 64 * 1024 * 1024


MAX_WAITING_PER_USER = 8


MAX_CONCURRENT_RENDERS = 2
"""Each rendering needs a copy of the original and a process. More would only make all of them slower."""


class TooManyImageRequests(TooManyRequests):
    """Too many image requests. Try again shortly"""

    code = "TooManyPictures"


class NoPageImages(Unsupported):
    """Page images are not available for this file type"""

    code = "NoPicture"


class ImageNotRenderable(Invalid):
    """This image cannot be rendered"""

    code = "NotDrawable"


class ImageRenderer(Protocol):
    """Renders images in the sandbox. Raises `Unreadable`, or `Unavailable` if the sandbox does not run."""

    async def render_page(self, file: BinaryIO, media_type: str, page_number: int, width_px: int) -> RenderedImage: ...

    async def render_figure(
        self, file: BinaryIO, media_type: str, page_number: int, box: Box | None, source: str | None
    ) -> RenderedImage: ...

    async def close(self) -> None: ...


@dataclass(frozen=True)
class OriginalFile:
    document_id: UUID
    revision: int
    key: str
    media_type: str
    file_size: int
    sha256: str

    def in_store(self, objects: ObjectStore) -> Original:
        return Original(objects, self.document_id, self.key, self.file_size, self.sha256)


class ImageRequest(Hashable, Protocol):
    """Part of an original that is to be rendered."""

    async def render(self, renderer: ImageRenderer, file: BinaryIO, media_type: str) -> RenderedImage: ...


@dataclass(frozen=True)
class PageImageRequest:
    page_number: int
    width_px: int

    async def render(self, renderer: ImageRenderer, file: BinaryIO, media_type: str) -> RenderedImage:
        return await renderer.render_page(file, media_type, self.page_number, self.width_px)

    def require_page_images(self, media_type: str) -> None:
        """Raise `NoPageImages` before the original is fetched in vain."""
        if not has_page_images(media_type):
            raise NoPageImages

    def __str__(self) -> str:
        return f"{self.page_number}-{self.width_px}"


@dataclass(frozen=True)
class FigureImageRequest:
    key: str
    page_number: int
    box: Box | None
    source: str | None

    async def render(self, renderer: ImageRenderer, file: BinaryIO, media_type: str) -> RenderedImage:
        return await renderer.render_figure(file, media_type, self.page_number, self.box, self.source)

    def __str__(self) -> str:
        return self.key


@dataclass
class _Rendering:
    task: asyncio.Task[bytes]
    waiting: int = 0


class ImageService:
    """Renders images; concurrent requests for the same image share one rendering."""

    def __init__(self, objects: ObjectStore, renderer: ImageRenderer, *, cache_bytes: int = CACHE_BYTES) -> None:
        self._objects = objects
        self._renderer = renderer
        self._cache = ImageCache(cache_bytes)
        self._render_slots = asyncio.Semaphore(MAX_CONCURRENT_RENDERS)
        self._renderings: dict[Hashable, _Rendering] = {}
        self._waiting: Counter[UUID] = Counter()

    async def get(self, original: OriginalFile, image_request: ImageRequest, user_id: UUID) -> bytes:
        """Return the image as PNG. Waiting requests are limited per user, so that others are served too."""
        key = (original.document_id, original.revision, image_request)
        if (known := self._cache.find(key)) is not None:
            return known
        if self._waiting[user_id] >= MAX_WAITING_PER_USER:
            raise TooManyImageRequests(retry_after_seconds=1)
        if key not in self._renderings:
            self._renderings[key] = _Rendering(
                asyncio.create_task(self._render_and_cache(key, original, image_request))
            )
        rendering = self._renderings[key]
        rendering.waiting += 1
        self._waiting[user_id] += 1
        try:
            # A client that disconnects does not cancel a rendering that others wait for. The last one does.
            return await asyncio.shield(rendering.task)
        finally:
            self._waiting[user_id] -= 1
            rendering.waiting -= 1
            if not rendering.waiting:
                rendering.task.cancel()
                del self._renderings[key]

    async def close(self) -> None:
        await self._renderer.close()

    async def _render_and_cache(self, key: Hashable, original: OriginalFile, image_request: ImageRequest) -> bytes:
        async with self._render_slots:
            png = await self._render(original, image_request)
        self._cache.put(key, png)
        return png

    async def _render(self, original: OriginalFile, image_request: ImageRequest) -> bytes:
        try:
            async with original.in_store(self._objects).open_copy() as file:
                return (await image_request.render(self._renderer, file, original.media_type)).png
        except ObjectNotFound:
            log.error("documents.original_missing", document_id=str(original.document_id), key=original.key)
            raise OriginalMissing from None
        except Unreadable as error:
            raise (NoPageImages if error.code is UnreadableCode.UNSUPPORTED else ImageNotRenderable)(
                error.message
            ) from None
