"""One page of a PDF, with filled-in forms: by its text layer, or by OCR if it is a scan."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

from pypdfium2 import PdfDocument, PdfiumError, PdfPage, PdfTextPage, raw

from muniment.processing.readers.contract import Box, Figure, Means, Method, Options, Page
from muniment.processing.readers.ocr.page import page_of
from muniment.processing.readers.ocr.pool import OcrPool, Ticket
from muniment.processing.readers.ocr.results import RecognitionFailed
from muniment.processing.readers.pdf.figures.detection import find_figures
from muniment.processing.readers.pdf.geometry import PageSpace, space_of
from muniment.processing.readers.pdf.rendering import render_gray
from muniment.processing.readers.pdf.text.text_layer import NO_TEXT, Layout, lay_out
from muniment.processing.readers.pdf.text.words import FAR

_SHOWN_TEXT = (raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_FREETEXT, raw.FPDF_ANNOT_STAMP)


def load_page(document: PdfDocument, index: int) -> PdfPage:
    """The page with what was filled in as part of its own contents. The file itself is not changed."""
    page = document.get_page(index)
    if not _has_shown_text(page):
        return page
    flattened = raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY)
    if flattened != raw.FLATTEN_SUCCESS:
        return page
    page.close()
    return document.get_page(index)


def _has_shown_text(page: PdfPage) -> bool:
    for place in range(raw.FPDFPage_GetAnnotCount(page)):
        annotation = raw.FPDFPage_GetAnnot(page, place)
        if not annotation:
            continue
        subtype = raw.FPDFAnnot_GetSubtype(annotation)
        raw.FPDFPage_CloseAnnot(annotation)
        if subtype in _SHOWN_TEXT:
            return True
    return False


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


_PAGE_SHARE = 0.85
"""A picture that covers more of a scanned page is the page itself."""


_SCAN_WORDS = 20
"""A picture of the size of the page with fewer words is a photo or a poster, and stays a figure."""


_NO_OCR = "This page has no extractable text, and OCR is not installed."


_DAMAGED = "This page is damaged and cannot be read."


_TOO_LARGE = "This page is too large to process."


@dataclass(frozen=True, slots=True)
class Awaited:
    """A page that OCR is working on."""

    number: int
    ticket: Ticket
    space: PageSpace
    figures: tuple[Figure, ...]


class PageReader:
    """Reads pages of one document, in any order."""

    def __init__(self, document: PdfDocument, options: Options, means: Means) -> None:
        self._document = document
        self._options = options
        self._means = means
        self._ocr = OcrPool(means, options)

    def close(self) -> None:
        self._ocr.close()
        self._document.close()

    def begin(self, number: int) -> Page | Awaited:
        """The page, or a promise of it. A page that cannot be read says so and keeps no other from being read."""
        try:
            with closing(load_page(self._document, number - 1)) as page:
                return self._read(page, number)
        except (PdfiumError, ValueError, ArithmeticError, LookupError, RecursionError):
            return Page(number, "", Method.NONE, problem=_DAMAGED)

    def finish(self, page: Page | Awaited) -> Page:
        """Waits for the OCR of that page."""
        if isinstance(page, Page):
            return page
        space = page.space
        try:
            recognised = self._ocr.result(page.ticket)
        except RecognitionFailed as failure:
            return _page(page.number, space, Method.NONE, figures=page.figures, problem=str(failure))
        return page_of(
            page.number,
            recognised,
            width=round(space.width, 2),
            height=round(space.height, 2),
            rotation=space.rotation,
            figures=_without_scan(page.figures, space, words=len(recognised.words)),
        )

    def _read(self, page: PdfPage, number: int) -> Page | Awaited:
        space = space_of(page)
        if not max(space.width, space.height) < FAR:
            return Page(number, "", Method.NONE, problem=_TOO_LARGE)
        with closing(page.get_textpage()) as text:
            layout = lay_out(text, space)
            is_scan = layout is not None and is_stamped_scan(page, text, layout, space)
        if layout is None and not is_drawn_on(page):
            return _page(number, space, Method.NONE)
        if layout is None or (is_scan and self._means.tesseract is not None):
            return self._send_to_ocr(page, number, space)
        figures = _without_scan(self._figures(page, space, layout), space, words=len(layout.words))
        return _page(number, space, Method.TEXT, layout, figures)

    def _send_to_ocr(self, page: PdfPage, number: int, space: PageSpace) -> Page | Awaited:
        figures = self._figures(page, space, NO_TEXT)
        if self._means.tesseract is None:
            return _page(number, space, Method.NONE, figures=figures, problem=_NO_OCR)
        image = render_gray(page, self._options.ocr_dpi, self._means)
        return Awaited(number, self._ocr.submit(image, self._options.ocr_dpi), space, figures)

    def _figures(self, page: PdfPage, space: PageSpace, layout: Layout) -> tuple[Figure, ...]:
        paragraphs = [
            (layout.text[paragraph.start : paragraph.end], paragraph.box)
            for paragraph in layout.paragraphs
            if paragraph.box is not None
        ]
        return find_figures(page, space.to_page, paragraphs, self._options)


def _page(
    number: int,
    space: PageSpace,
    method: Method,
    layout: Layout = NO_TEXT,
    figures: tuple[Figure, ...] = (),
    problem: str | None = None,
) -> Page:
    return Page(
        number,
        layout.text,
        method,
        layout.paragraphs,
        layout.words,
        figures,
        width=round(space.width, 2),
        height=round(space.height, 2),
        rotation=space.rotation,
        problem=problem,
    )


def _without_scan(figures: tuple[Figure, ...], space: PageSpace, *, words: int) -> tuple[Figure, ...]:
    if words < _SCAN_WORDS:
        return figures
    most = _PAGE_SHARE * space.width * space.height
    return tuple(figure for figure in figures if figure.box is None or _area(figure.box) < most)


def _area(box: Box) -> float:
    left, top, right, bottom = box
    return (right - left) * (bottom - top)
