"""Reader of scans and photos: PNG, JPEG, WEBP, GIF and BMP are one page, a TIFF has one per frame."""

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import BinaryIO

from PIL import Image

from muniment.processing.readers.contract import (
    MAX_FIGURE_SIDE,
    Figure,
    FigureKind,
    Means,
    Method,
    Options,
    Page,
    Reading,
)
from muniment.processing.readers.errors import Code, Unreadable
from muniment.processing.readers.images.decoding import FORMATS, damage_is_told, decode, open_picture
from muniment.processing.readers.images.resolution import points_of, scaled_for_ocr
from muniment.processing.readers.ocr.page import page_of
from muniment.processing.readers.ocr.pool import OcrPool, Ticket
from muniment.processing.readers.ocr.results import RecognitionFailed

PHOTO_WORDS = 20
"""With fewer words than these a picture is looked at, not read."""


@dataclass(frozen=True, slots=True)
class _Frame:
    """A page on its way: what is known of it before its text is."""

    page: Page
    scan: Image.Image | None = field(default=None, repr=False)
    figure: Figure | None = None


def open_file(file: BinaryIO, media_type: str, options: Options, means: Means) -> Reading:
    """Open a picture, or raise `Unreadable`. A single page is decoded at once: damage shows before anything is read."""
    picture = open_picture(file, [FORMATS[media_type]])
    total = count_pages(picture)
    if total > means.max_pages:
        message = f"The file has {total:,} pages. The limit is {means.max_pages:,}."
        raise Unreadable(Code.TOO_MANY_PAGES, message)
    reader = _ImageReader(picture, options, means)
    return Reading(total, reader.read([reader.decode(1)] if total == 1 else map(reader.try_to_decode, _numbers(total))))


def count_pages(picture: Image.Image) -> int:
    """The frames of a TIFF; those of any other format move, and the first one stands for all."""
    if picture.format != "TIFF":
        return 1
    with damage_is_told("TIFF"):
        return int(getattr(picture, "n_frames", 1))


def turn_to(picture: Image.Image, number: int) -> None:
    """Make page `number` the current frame."""
    with damage_is_told(picture.format or "picture"):
        picture.seek(number - 1)


def _numbers(total: int) -> Iterator[int]:
    return iter(range(1, total + 1))


class _ImageReader:
    def __init__(self, picture: Image.Image, options: Options, means: Means) -> None:
        self._picture = picture
        self._options = options
        self._means = means

    def read(self, frames: Iterable[_Frame]) -> Iterator[Page]:
        with closing(OcrPool(self._means, self._options)) as pool:
            ahead: deque[tuple[_Frame, Ticket | None]] = deque()
            for frame in frames:
                ticket = pool.submit(frame.scan, self._options.ocr_dpi) if frame.scan else None
                ahead.append((replace(frame, scan=None), ticket))
                # One more than can be worked on: while we wait for the oldest, no process is without work.
                if len(ahead) > self._means.ocr_processes:
                    yield _finish(pool, *ahead.popleft())
            while ahead:
                yield _finish(pool, *ahead.popleft())

    def try_to_decode(self, number: int) -> _Frame:
        """One page of many: damage is its own problem, the others still are read."""
        try:
            return self.decode(number)
        except Unreadable as error:
            return _unreadable(number, error)

    def decode(self, number: int) -> _Frame:
        """The page without its text. What is too large is no damage: the page says so."""
        turn_to(self._picture, number)
        size = self._picture.size
        try:
            pixels = decode(self._picture, self._means.max_pixels)
        except Unreadable as error:
            if error.code is Code.CORRUPT:
                raise
            return _unreadable(number, error)
        width, height = points_of(self._picture, size)
        page = Page(number, "", Method.NONE, width=width, height=height)
        return _Frame(page, scaled_for_ocr(pixels, width, height, self._options.ocr_dpi), _photo(pixels, width, height))


def _unreadable(number: int, error: Unreadable) -> _Frame:
    return _Frame(Page(number, "", Method.NONE, problem=error.message))


def _finish(pool: OcrPool, frame: _Frame, ticket: Ticket | None) -> Page:
    page = frame.page
    if ticket is None or page.width is None or page.height is None:
        return page
    try:
        recognised = pool.result(ticket)
    except RecognitionFailed as failure:
        return replace(page, figures=_shown(frame), problem=failure.message)
    figures = _shown(frame) if len(recognised.words) < PHOTO_WORDS else ()
    return page_of(page.number, recognised, width=page.width, height=page.height, figures=figures)


def _shown(frame: _Frame) -> tuple[Figure, ...]:
    return (frame.figure,) if frame.figure else ()


def _photo(pixels: Image.Image, width: float, height: float) -> Figure:
    digest = hashlib.sha256(f"{pixels.mode} {pixels.width} {pixels.height}\n".encode() + pixels.tobytes())
    across, down = min(pixels.width, MAX_FIGURE_SIDE), min(pixels.height, MAX_FIGURE_SIDE)
    return Figure(FigureKind.PICTURE, digest.hexdigest(), across, down, (0.0, 0.0, width, height))
