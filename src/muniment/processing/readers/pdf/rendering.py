"""Render PDF pages as displayed, with rotation, annotations and filled-in forms."""

from io import BytesIO

from PIL import Image
from pypdfium2 import PdfPage

from muniment.processing.readers import contract
from muniment.processing.readers.contract import Box, ReaderResources

POINTS_PER_INCH = 72
_WHITE = (255, 255, 255, 255)
_PNG_LEVEL = 3
"""Half the time of the usual 6, for a file that is a tenth larger."""


def render_gray(page: PdfPage, dpi: int, resources: ReaderResources) -> Image.Image:
    """Render the page in gray on white; smaller if it would exceed `means.max_pixels`."""
    return _render(page, dpi / POINTS_PER_INCH, resources, gray=True)


def render_png(page: PdfPage, width_px: int, resources: ReaderResources) -> contract.RenderedImage:
    """Render the page in color on white, `width_px` wide; smaller if it would exceed `means.max_pixels`."""
    # PDFium rounds sides up, so scale slightly less: a rounding error would cost one more pixel.
    return encode_png(_render(page, (width_px - 0.001) / page.get_width(), resources))


def render_box(page: PdfPage, box: Box, dpi: int, resources: ReaderResources) -> contract.RenderedImage:
    """Render a box of the page as displayed, without rendering the rest."""
    width, height = page.get_size()
    left, top, right, bottom = max(0.0, box[0]), max(0.0, box[1]), min(width, box[2]), min(height, box[3])
    left, top = min(left, width - 1), min(top, height - 1)
    right, bottom = max(right, left + 1), max(bottom, top + 1)
    # PDFium crops from the four sides of the displayed page: left, bottom, right, top.
    crop = (left, height - bottom, width - right, top)
    return encode_png(_render(page, dpi / POINTS_PER_INCH, resources, crop=crop))


def encode_png(image: Image.Image) -> contract.RenderedImage:
    """Encode as PNG. Equal pixels give equal bytes."""
    file = BytesIO()
    image.save(file, "PNG", compress_level=_PNG_LEVEL)
    return contract.RenderedImage(file.getvalue(), image.width, image.height)


def _render(
    page: PdfPage, scale: float, resources: ReaderResources, *, gray: bool = False, crop: Box = (0.0, 0.0, 0.0, 0.0)
) -> Image.Image:
    width, height = page.get_size()
    width, height = width - crop[0] - crop[2], height - crop[1] - crop[3]
    scale = _fitting_scale(scale, width, height, resources.max_pixels)
    bitmap = page.render(scale=scale, crop=crop, grayscale=gray, fill_color=_WHITE, rev_byteorder=not gray)
    try:
        picture: Image.Image = bitmap.to_pil()
        # The image may be in PDFium's memory, which is about to be freed.
        return picture.copy() if picture.mode in ("L", "RGB") else picture.convert("RGB")
    finally:
        bitmap.close()


def _fitting_scale(scale: float, width: float, height: float, max_pixels: int) -> float:
    """Return the scale, or the largest one at which the page, with sides rounded up, has at most so many pixels."""
    # (w·s + 1)(h·s + 1) ≤ max, solved for s.
    a, b, c = width * height, width + height, 1.0 - max_pixels
    largest: float = (-b + (b * b - 4 * a * c) ** 0.5) / (2 * a)
    return min(scale, largest)
