"""Estimate the size of an image on paper: files rarely state it, and often wrongly."""

from PIL import Image

from muniment.processing.readers.images.decoding import is_rotated_by_quarter

POINTS_PER_INCH = 72
SCREEN_DPI = 96
"""Up to this a resolution was not measured by a scanner but filled in by a program."""
MAX_DPI = 2400
SHEET_INCHES = 11.69
"""The long side of A4, of which we think where nothing is said."""
SHEET_PIXELS = 2200
"""From this length on a picture without a resolution is a photographed sheet; below, it is one of a screen."""
MAX_INCHES = 60.0

_SCALE_TOLERANCE = (0.75, 1.34)
"""Scaling by so little loses more than it gives."""


def size_in_points(image: Image.Image, size: tuple[int, int]) -> tuple[float, float]:
    """Width and height on paper, as shown. `size` is that of the file, even where less was decoded."""
    across, down = _stated_dpi(image) or (_guess_dpi(size),) * 2
    width, height = size[0] / across, size[1] / down
    if max(width, height) > MAX_INCHES:
        width, height = size[0] / _guess_dpi(size), size[1] / _guess_dpi(size)
    width, height = round(width * POINTS_PER_INCH, 2), round(height * POINTS_PER_INCH, 2)
    return (height, width) if is_rotated_by_quarter(image) else (width, height)


def scaled_for_ocr(pixels: Image.Image, width: float, height: float, dpi: int) -> Image.Image:
    """In gray, and about as large as the page of this size in points would be at `dpi`."""
    gray = pixels.convert("L")
    target = max(1, round(width * dpi / POINTS_PER_INCH)), max(1, round(height * dpi / POINTS_PER_INCH))
    factors = target[0] / gray.width, target[1] / gray.height
    if all(_SCALE_TOLERANCE[0] <= factor <= _SCALE_TOLERANCE[1] for factor in factors):
        return gray
    return gray.resize(target, Image.Resampling.BICUBIC, reducing_gap=3.0)


def _stated_dpi(image: Image.Image) -> tuple[float, float] | None:
    stated = image.info.get("dpi")
    if not isinstance(stated, tuple) or len(stated) != 2:
        return None
    across, down = float(stated[0]), float(stated[1])
    # A fax has half the lines: 204 × 98.
    is_measured = max(across, down) > SCREEN_DPI and min(across, down) > SCREEN_DPI / 2
    return (across, down) if is_measured and max(across, down) <= MAX_DPI else None


def _guess_dpi(size: tuple[int, int]) -> float:
    longest = max(size)
    return longest / SHEET_INCHES if longest >= SHEET_PIXELS else float(SCREEN_DPI)
