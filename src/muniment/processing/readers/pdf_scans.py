"""Which pages are pictures of text."""

from collections.abc import Iterator

from pypdfium2 import PdfPage, PdfTextPage, raw

from muniment.processing.readers.pdf_layout import Layout
from muniment.processing.readers.pdf_space import PageSpace

_STAMP_CHARACTERS = 100
"""A scan with a stamp or a page number typed over it has no more."""
_SCAN_SHARE = 0.8


def is_drawn_on(page: PdfPage) -> bool:
    """Whether there is anything to see."""
    return bool(raw.FPDFPage_CountObjects(page) > 0)


def is_stamped_scan(page: PdfPage, text: PdfTextPage, layout: Layout, space: PageSpace) -> bool:
    """Whether the text is but a stamp upon a picture of the page. Invisible text was put there by another OCR."""
    if len(layout.text) > _STAMP_CHARACTERS or _is_invisible(text):
        return False
    area = space.unturned_width * space.unturned_height
    return any(picture > _SCAN_SHARE * area for picture in _picture_areas(page))


def _is_invisible(text: PdfTextPage) -> bool:
    drawn = (raw.FPDFText_GetTextObject(text, index) for index in range(text.count_chars()))
    first = next((handle for handle in drawn if handle), None)
    return first is not None and raw.FPDFTextObj_GetTextRenderMode(first) == raw.FPDF_TEXTRENDERMODE_INVISIBLE


def _picture_areas(page: PdfPage) -> Iterator[float]:
    for picture in page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE]):
        left, bottom, right, top = picture.get_bounds()
        yield (right - left) * (top - bottom)
