"""Estimate the size of an image on paper: files rarely state it, and often wrongly."""

from PIL import Image

from muniment.processing.readers.images.decoding import is_rotated_by_quarter

POINTS_PER_INCH = 72
SCREEN_DPI = 96
"""Resolutions up to this value were filled in by a program, not measured by a scanner."""
MAX_DPI = 2400
SHEET_INCHES = 11.69
"""Long side of A4, the assumed paper size."""
SHEET_PIXELS = 2200
"""Images without a resolution are photographed sheets from this length on, and screenshots below."""
MAX_INCHES = 60.0

_SCALE_TOLERANCE = (0.75, 1.34)
"""Scaling within this range loses more than it gains."""


def size_in_points(image: Image.Image, size: tuple[int, int]) -> tuple[float, float]:
    """Return width and height on paper as displayed. `size` is that of the file, even if less was decoded."""
    across, down = _stated_dpi(image) or (_guess_dpi(size),) * 2
    width, height = size[0] / across, size[1] / down
    if max(width, height) > MAX_INCHES:
        width, height = size[0] / _guess_dpi(size), size[1] / _guess_dpi(size)
    width, height = round(width * POINTS_PER_INCH, 2), round(height * POINTS_PER_INCH, 2)
    return (height, width) if is_rotated_by_quarter(image) else (width, height)


def scaled_for_ocr(pixels: Image.Image, width: float, height: float, dpi: int) -> Image.Image:
    """Return the image in gray, scaled to about the size a page of these points has at `dpi`."""
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
    # A fax has half the lines: 204 × 98 dpi.
    is_measured = max(across, down) > SCREEN_DPI and min(across, down) > SCREEN_DPI / 2
    return (across, down) if is_measured and max(across, down) <= MAX_DPI else None


def _guess_dpi(size: tuple[int, int]) -> float:
    longest = max(size)
    return longest / SHEET_INCHES if longest >= SHEET_PIXELS else float(SCREEN_DPI)
