"""Render images of pages and figures on demand."""

from collections.abc import Callable
from contextlib import closing
from io import BytesIO
from pathlib import PurePosixPath
from typing import BinaryIO

from PIL import Image
from pypdfium2 import PdfiumError, PdfPage

from muniment.processing.readers import contract
from muniment.processing.readers.contract import Box, Means
from muniment.processing.readers.errors import Code, Unreadable
from muniment.processing.readers.images.decoding import FORMATS, decode, open_picture
from muniment.processing.readers.images.reader import count_pages, turn_to
from muniment.processing.readers.images.resolution import points_of
from muniment.processing.readers.office.package import Package
from muniment.processing.readers.pdf.reader import open_document
from muniment.processing.readers.pdf.rendering import POINTS_PER_INCH, as_png, render_box, render_png

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
"""By the ending of a part's name: those of drawings (EMF, WMF, SVG) are not among them."""


def page_picture(file: BinaryIO, media_type: str, page_number: int, width_px: int, means: Means) -> contract.Image:
    """The page, `width_px` wide or, where that would be too many pixels, less. Pictures are never made larger."""
    if media_type == PDF:
        return _of_pdf(file, page_number, means, lambda page: render_png(page, width_px, means))
    if media_type not in FORMATS:
        raise Unreadable(Code.UNSUPPORTED, "Page images are not available for this file type.")
    picture = _image_page(file, media_type, page_number)
    pixels = decode(picture, means.max_pixels)
    width = min(width_px, pixels.width)
    height = max(1, round(pixels.height * width / pixels.width))
    return as_png(pixels.resize((width, height), Image.Resampling.BICUBIC, reducing_gap=3.0))


def figure_picture(
    file: BinaryIO, media_type: str, page_number: int, box: Box | None, source: str | None, means: Means
) -> contract.Image:
    """The figure by its box on the page or, in a packed file, by the name of its part."""
    if source is not None:
        return _part_picture(file, source, means)
    if box is not None and media_type == PDF:
        return _of_pdf(file, page_number, means, lambda page: render_box(page, box, FIGURE_DPI, means))
    if box is not None and media_type in FORMATS:
        return _cut_out(_image_page(file, media_type, page_number), box, means)
    raise Unreadable(Code.UNSUPPORTED, "Figure images are not available for this file type.")


def _of_pdf(
    file: BinaryIO, page_number: int, means: Means, draw: Callable[[PdfPage], contract.Image]
) -> contract.Image:
    try:
        with closing(open_document(file, means)) as document:
            if not 1 <= page_number <= len(document):
                raise _no_such_page(page_number)
            with closing(document[page_number - 1]) as page:
                return draw(page)
    except PdfiumError as error:
        raise Unreadable(Code.CORRUPT, "The page is damaged and cannot be displayed.") from error


def _image_page(file: BinaryIO, media_type: str, page_number: int) -> Image.Image:
    picture = open_picture(file, [FORMATS[media_type]])
    if not 1 <= page_number <= count_pages(picture):
        raise _no_such_page(page_number)
    turn_to(picture, page_number)
    return picture


def _cut_out(picture: Image.Image, box: Box, means: Means) -> contract.Image:
    size = picture.size
    pixels = decode(picture, means.max_pixels)
    width, height = points_of(picture, size)
    x, y = pixels.width / width, pixels.height / height
    left, top = min(max(0, int(box[0] * x)), pixels.width - 1), min(max(0, int(box[1] * y)), pixels.height - 1)
    right, bottom = max(left + 1, round(box[2] * x)), max(top + 1, round(box[3] * y))
    cut = pixels.crop((left, top, min(right, pixels.width), min(bottom, pixels.height)))
    limit = max(1, round((box[2] - box[0]) * FIGURE_DPI / POINTS_PER_INCH))
    if cut.width > limit:
        cut = cut.resize((limit, max(1, round(cut.height * limit / cut.width))), Image.Resampling.BICUBIC)
    return as_png(cut)


def _part_picture(file: BinaryIO, source: str, means: Means) -> contract.Image:
    format_name = PART_FORMATS.get(PurePosixPath(source).suffix.lower())
    if format_name is None:
        raise Unreadable(Code.UNSUPPORTED, "This figure has a format that cannot be displayed.")
    part = BytesIO(Package(file, means.max_unpacked_bytes).read(source))
    # Office programs do not mind a JPEG that is called a PNG, nor do we.
    known = [format_name, *(each for each in FORMATS.values() if each != format_name)]
    return as_png(decode(open_picture(part, known), means.max_pixels))


def _no_such_page(page_number: int) -> Unreadable:
    return Unreadable(Code.UNSUPPORTED, f"The file has no page {page_number}.")
