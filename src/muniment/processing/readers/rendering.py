"""Render images of pages and figures on demand."""

from collections.abc import Callable
from contextlib import closing
from io import BytesIO
from pathlib import PurePosixPath
from typing import BinaryIO

from PIL import Image
from pypdfium2 import PdfiumError, PdfPage

from muniment.processing.readers import contract
from muniment.processing.readers.contract import Box, ReaderResources
from muniment.processing.readers.errors import Unreadable, UnreadableCode
from muniment.processing.readers.images.decoding import FORMATS, decode, open_image
from muniment.processing.readers.images.reader import count_pages, select_frame
from muniment.processing.readers.images.resolution import size_in_points
from muniment.processing.readers.office.package import OfficePackage
from muniment.processing.readers.pdf.reader import open_document
from muniment.processing.readers.pdf.rendering import POINTS_PER_INCH, encode_png, render_box, render_png

PDF = "application/pdf"
FIGURE_DPI = 200
PART_FORMATS = {
    ".png": "PNG",
    ".jpg": "JPEG",
    ".jpeg": "JPEG",
    ".jpe": "JPEG",
    ".tif": "TIFF",
    ".tiff": "TIFF",
    ".webp": "WEBP",
    ".gif": "GIF",
    ".bmp": "BMP",
}
"""Formats by file extension, without drawings (EMF, WMF, SVG)."""


def render_page(
    file: BinaryIO, media_type: str, page_number: int, width_px: int, resources: ReaderResources
) -> contract.RenderedImage:
    """Render a page `width_px` wide, or less if that would be too many pixels. Images are never enlarged."""
    if media_type == PDF:
        return _render_pdf(file, page_number, resources, lambda page: render_png(page, width_px, resources))
    if media_type not in FORMATS:
        raise Unreadable(UnreadableCode.UNSUPPORTED, "Page images are not available for this file type.")
    picture = _load_image_page(file, media_type, page_number)
    pixels = decode(picture, resources.max_pixels)
    width = min(width_px, pixels.width)
    height = max(1, round(pixels.height * width / pixels.width))
    return encode_png(pixels.resize((width, height), Image.Resampling.BICUBIC, reducing_gap=3.0))


def render_figure(
    file: BinaryIO, media_type: str, page_number: int, box: Box | None, source: str | None, resources: ReaderResources
) -> contract.RenderedImage:
    """Render a figure by its box on the page or, in a packed file, by the name of its part."""
    if source is not None:
        return _render_part(file, source, resources)
    if box is not None and media_type == PDF:
        return _render_pdf(file, page_number, resources, lambda page: render_box(page, box, FIGURE_DPI, resources))
    if box is not None and media_type in FORMATS:
        return _crop(_load_image_page(file, media_type, page_number), box, resources)
    raise Unreadable(UnreadableCode.UNSUPPORTED, "Figure images are not available for this file type.")


def _render_pdf(
    file: BinaryIO, page_number: int, resources: ReaderResources, render: Callable[[PdfPage], contract.RenderedImage]
) -> contract.RenderedImage:
    try:
        with closing(open_document(file, resources)) as document:
            if not 1 <= page_number <= len(document):
                raise _page_not_found(page_number)
            with closing(document[page_number - 1]) as page:
                return render(page)
    except PdfiumError as error:
        raise Unreadable(UnreadableCode.CORRUPT, "The page is damaged and cannot be displayed.") from error


def _load_image_page(file: BinaryIO, media_type: str, page_number: int) -> Image.Image:
    picture = open_image(file, [FORMATS[media_type]])
    if not 1 <= page_number <= count_pages(picture):
        raise _page_not_found(page_number)
    select_frame(picture, page_number)
    return picture


def _crop(image: Image.Image, box: Box, resources: ReaderResources) -> contract.RenderedImage:
    size = image.size
    pixels = decode(image, resources.max_pixels)
    width, height = size_in_points(image, size)
    x, y = pixels.width / width, pixels.height / height
    left, top = min(max(0, int(box[0] * x)), pixels.width - 1), min(max(0, int(box[1] * y)), pixels.height - 1)
    right, bottom = max(left + 1, round(box[2] * x)), max(top + 1, round(box[3] * y))
    cut = pixels.crop((left, top, min(right, pixels.width), min(bottom, pixels.height)))
    limit = max(1, round((box[2] - box[0]) * FIGURE_DPI / POINTS_PER_INCH))
    if cut.width > limit:
        cut = cut.resize((limit, max(1, round(cut.height * limit / cut.width))), Image.Resampling.BICUBIC)
    return encode_png(cut)


def _render_part(file: BinaryIO, source: str, resources: ReaderResources) -> contract.RenderedImage:
    format_name = PART_FORMATS.get(PurePosixPath(source).suffix.lower())
    if format_name is None:
        raise Unreadable(UnreadableCode.UNSUPPORTED, "This figure has a format that cannot be displayed.")
    part = BytesIO(OfficePackage(file, resources).read(source))
    # Office programs accept a JPEG that is called a PNG, and so do we.
    known = [format_name, *(each for each in FORMATS.values() if each != format_name)]
    return encode_png(decode(open_image(part, known), resources.max_pixels))


def _page_not_found(page_number: int) -> Unreadable:
    return Unreadable(UnreadableCode.UNSUPPORTED, f"The file has no page {page_number}.")
