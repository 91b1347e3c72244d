"""Reader of scans and photos: PNG, JPEG, WEBP, GIF and BMP have one page, a TIFF has one per frame."""

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import BinaryIO

from PIL import Image

from muniment.processing.readers.contract import (
    MAX_FIGURE_SIDE,
    ExtractedPage,
    ExtractionMethod,
    Figure,
    FigureKind,
    OpenedDocument,
    ReaderResources,
    ReadingOptions,
)
from muniment.processing.readers.errors import Unreadable, UnreadableCode
from muniment.processing.readers.images.decoding import FORMATS, decode, image_errors_as_unreadable, open_image
from muniment.processing.readers.images.resolution import scaled_for_ocr, size_in_points
from muniment.processing.readers.ocr.page import build_page
from muniment.processing.readers.ocr.pool import OcrPool, OcrTicket
from muniment.processing.readers.ocr.results import OcrFailed

MAX_PHOTO_WORDS = 20
"""An image with fewer words is a photo, not a text page."""


@dataclass(frozen=True, slots=True)
class _Frame:
    """A page whose text is not recognized yet."""

    page: ExtractedPage
    scan: Image.Image | None = field(default=None, repr=False)
    figure: Figure | None = None


def open_file(file: BinaryIO, media_type: str, options: ReadingOptions, resources: ReaderResources) -> OpenedDocument:
    """Open an image, or raise `Unreadable`. A single page is decoded immediately, so that damage is found early."""
    picture = open_image(file, [FORMATS[media_type]])
    total = count_pages(picture)
    if total > resources.max_pages:
        message = f"The file has {total:,} pages. The limit is {resources.max_pages:,}."
        raise Unreadable(UnreadableCode.TOO_MANY_PAGES, message)
    reader = _ImageReader(picture, options, resources)
    numbers = range(resources.first_page, total + 1)
    return OpenedDocument(
        total, reader.read([reader.decode(1)] if total == 1 else map(reader.decode_or_report, numbers))
    )


def count_pages(image: Image.Image) -> int:
    """Return the number of TIFF frames; other formats are animations, of which the first frame is used."""
    if image.format != "TIFF":
        return 1
    with image_errors_as_unreadable("TIFF"):
        return int(getattr(image, "n_frames", 1))


def select_frame(image: Image.Image, number: int) -> None:
    """Make page `number` the current frame."""
    with image_errors_as_unreadable(image.format or "picture"):
        image.seek(number - 1)


class _ImageReader:
    def __init__(self, image: Image.Image, options: ReadingOptions, resources: ReaderResources) -> None:
        self._image = image
        self._options = options
        self._resources = resources

    def read(self, frames: Iterable[_Frame]) -> Iterator[ExtractedPage]:
        with closing(OcrPool(self._resources, self._options)) as pool:
            ahead: deque[tuple[_Frame, OcrTicket | None]] = deque()
            for frame in frames:
                ticket = pool.submit(frame.scan, self._options.ocr_dpi) if frame.scan else None
                ahead.append((replace(frame, scan=None), ticket))
                # One more than the pool processes, so that no process is idle while we wait for the oldest.
                if len(ahead) > self._resources.ocr_processes:
                    yield _finish_page(pool, *ahead.popleft())
            while ahead:
                yield _finish_page(pool, *ahead.popleft())

    def decode_or_report(self, number: int) -> _Frame:
        """Decode one of several pages. Damage becomes a problem of the page and does not affect the others."""
        try:
            return self.decode(number)
        except Unreadable as error:
            return _unreadable_page(number, error)

    def decode(self, number: int) -> _Frame:
        """Decode a page without its text. An oversized page is not damaged; it gets a problem."""
        select_frame(self._image, number)
        size = self._image.size
        try:
            pixels = decode(self._image, self._resources.max_pixels)
        except Unreadable as error:
            if error.code is UnreadableCode.CORRUPT:
                raise
            return _unreadable_page(number, error)
        width, height = size_in_points(self._image, size)
        page = ExtractedPage(number, "", ExtractionMethod.NONE, width=width, height=height)
        return _Frame(
            page, scaled_for_ocr(pixels, width, height, self._options.ocr_dpi), _photo_figure(pixels, width, height)
        )


def _unreadable_page(number: int, error: Unreadable) -> _Frame:
    return _Frame(ExtractedPage(number, "", ExtractionMethod.NONE, problem=error.message))


def _finish_page(pool: OcrPool, frame: _Frame, ticket: OcrTicket | None) -> ExtractedPage:
    page = frame.page
    if ticket is None or page.width is None or page.height is None:
        return page
    try:
        result = pool.wait_for_result(ticket)
    except OcrFailed as failure:
        return replace(page, figures=_page_without_ocr(frame), problem=failure.message)
    figures = _page_without_ocr(frame) if len(result.words) < MAX_PHOTO_WORDS else ()
    return build_page(page.number, result, width=page.width, height=page.height, figures=figures)


def _page_without_ocr(frame: _Frame) -> tuple[Figure, ...]:
    return (frame.figure,) if frame.figure else ()


def _photo_figure(pixels: Image.Image, width: float, height: float) -> Figure:
    digest = hashlib.sha256(f"{pixels.mode} {pixels.width} {pixels.height}\n".encode() + pixels.tobytes())
    across, down = min(pixels.width, MAX_FIGURE_SIDE), min(pixels.height, MAX_FIGURE_SIDE)
    return Figure(FigureKind.PICTURE, digest.hexdigest(), across, down, (0.0, 0.0, width, height))
