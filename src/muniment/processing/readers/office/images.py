"""Images embedded in an office file, as figures."""

import hashlib
import struct
import warnings
from io import BytesIO

from PIL import Image

from muniment.processing.readers.contract import MAX_FIGURE_SIDE, Figure, FigureKind, ReadingOptions
from muniment.processing.readers.errors import Unreadable
from muniment.processing.readers.office.package import OfficePackage

# Pillow imports modules when it opens an image, which fails in the sandbox.
Image.init()

_POINTS_PER_EMU = 1 / 12_700
_PIXELS_PER_POINT = 96 / 72
_DECODING_ERRORS = (
    OSError, ValueError, SyntaxError, LookupError, ArithmeticError, TypeError, EOFError, AttributeError, struct.error,
    Image.DecompressionBombError,
)  # fmt: skip


class EmbeddedImages:
    """Embedded images. Each part is unpacked and hashed once, however often it is shown."""

    def __init__(self, package: OfficePackage, options: ReadingOptions) -> None:
        self._package = package
        self._min_points = options.figure_min_points
        self._known: dict[str, tuple[str, tuple[int, int] | None] | None] = {}

    def figure_for(self, part: str | None, size_emu: tuple[int, int] | None = None) -> tuple[Figure, ...]:
        """Return the figure of a part, unless it is missing, damaged, implausible or decoration."""
        if part is None or (known := self._find_figure(part)) is None:
            return ()
        sha256, pixels = known
        points = _displayed_points(size_emu, pixels)
        if points is None or min(points) < self._min_points:
            return ()
        width, height = pixels or (round(points[0] * _PIXELS_PER_POINT), round(points[1] * _PIXELS_PER_POINT))
        if max(width, height) > MAX_FIGURE_SIDE:
            return ()
        return (Figure(FigureKind.PICTURE, sha256, width, height, source=part),)

    def _find_figure(self, part: str) -> tuple[str, tuple[int, int] | None] | None:
        if part not in self._known:
            self._known[part] = self._read_figure(part)
        return self._known[part]

    def _read_figure(self, part: str) -> tuple[str, tuple[int, int] | None] | None:
        try:
            data = self._package.read(part)
        except Unreadable:
            return None  # a lost image is no reason to lose the text
        return hashlib.sha256(data).hexdigest(), _pixel_size(data)


def _displayed_points(size_emu: tuple[int, int] | None, pixels: tuple[int, int] | None) -> tuple[float, float] | None:
    if size_emu and min(size_emu) > 0:
        return size_emu[0] * _POINTS_PER_EMU, size_emu[1] * _POINTS_PER_EMU
    return (pixels[0] / _PIXELS_PER_POINT, pixels[1] / _PIXELS_PER_POINT) if pixels else None


def _pixel_size(data: bytes) -> tuple[int, int] | None:
    """Return the size in pixels from the header, or `None` for other formats than bitmaps, such as SVG."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with Image.open(BytesIO(data)) as picture:
                return picture.size
        except _DECODING_ERRORS:
            return None
