"""Read one page of a PDF with filled-in forms: from its text layer, or by OCR if it is a scan."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

from pypdfium2 import PdfDocument, PdfiumError, PdfPage, PdfTextPage, raw

from muniment.processing.readers.contract import (
    Box,
    ExtractedPage,
    ExtractionMethod,
    Figure,
    ReaderResources,
    ReadingOptions,
)
from muniment.processing.readers.ocr.page import build_page
from muniment.processing.readers.ocr.pool import OcrPool, OcrTicket
from muniment.processing.readers.ocr.results import OcrFailed
from muniment.processing.readers.pdf.figures.detection import find_figures
from muniment.processing.readers.pdf.geometry import PageGeometry, page_geometry
from muniment.processing.readers.pdf.rendering import render_gray
from muniment.processing.readers.pdf.text.text_layer import EMPTY_TEXT_LAYER, TextLayer, extract_text_layer
from muniment.processing.readers.pdf.text.words import MAX_COORDINATE

_VISIBLE_ANNOTATIONS = (raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_FREETEXT, raw.FPDF_ANNOT_STAMP)


def load_page(document: PdfDocument, index: int) -> PdfPage:
    """Load a page with filled-in forms flattened into its content. The file is not changed."""
    page = document.get_page(index)
    if not _has_visible_annotations(page):
        return page
    flattened = raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY)
    if flattened != raw.FLATTEN_SUCCESS:
        return page
    page.close()
    return document.get_page(index)


def _has_visible_annotations(page: PdfPage) -> bool:
    for index in range(raw.FPDFPage_GetAnnotCount(page)):
        annotation = raw.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        subtype = raw.FPDFAnnot_GetSubtype(annotation)
        raw.FPDFPage_CloseAnnot(annotation)
        if subtype in _VISIBLE_ANNOTATIONS:
            return True
    return False


_STAMP_CHARACTERS = 100
"""A scan with a stamp or page number typed over it has no more characters."""


_SCAN_SHARE = 0.8


def has_objects(page: PdfPage) -> bool:
    """Whether the page has any visible content."""
    return bool(raw.FPDFPage_CountObjects(page) > 0)


def is_stamped_scan(page: PdfPage, text: PdfTextPage, text_layer: TextLayer, geometry: PageGeometry) -> bool:
    """Whether the text is only a stamp on an image of the page. Invisible text comes from another OCR program."""
    if len(text_layer.text) > _STAMP_CHARACTERS or _is_invisible(text):
        return False
    area = geometry.unrotated_width * geometry.unrotated_height
    return any(picture > _SCAN_SHARE * area for picture in _image_areas(page))


def _is_invisible(text: PdfTextPage) -> bool:
    drawn = (raw.FPDFText_GetTextObject(text, index) for index in range(text.count_chars()))
    first = next((handle for handle in drawn if handle), None)
    return first is not None and raw.FPDFTextObj_GetTextRenderMode(first) == raw.FPDF_TEXTRENDERMODE_INVISIBLE


def _image_areas(page: PdfPage) -> Iterator[float]:
    for picture in page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE]):
        left, bottom, right, top = picture.get_bounds()
        yield (right - left) * (top - bottom)


_FULL_PAGE_SHARE = 0.85
"""An image that covers more of a scanned page is the page itself."""


_MAX_SCAN_WORDS = 20
"""A full-page image with fewer words is a photo or poster and stays a figure."""


_NO_OCR = "This page has no extractable text, and OCR is not installed."


_DAMAGED = "This page is damaged and cannot be read."


_TOO_LARGE = "This page is too large to process."


@dataclass(frozen=True, slots=True)
class PendingOcrPage:
    """A page that OCR is processing."""

    number: int
    ticket: OcrTicket
    geometry: PageGeometry
    figures: tuple[Figure, ...]


class PageReader:
    """Reads pages of one document, in any order."""

    def __init__(self, document: PdfDocument, options: ReadingOptions, resources: ReaderResources) -> None:
        self._document = document
        self._options = options
        self._resources = resources
        self._ocr = OcrPool(resources, options)

    def close(self) -> None:
        self._ocr.close()
        self._document.close()

    def begin(self, number: int) -> ExtractedPage | PendingOcrPage:
        """Return the page, or a pending one if it needs OCR.

        An unreadable page gets a problem and does not affect others.
        """
        try:
            with closing(load_page(self._document, number - 1)) as page:
                return self._read_page(page, number)
        except (PdfiumError, ValueError, ArithmeticError, LookupError, RecursionError):
            return ExtractedPage(number, "", ExtractionMethod.NONE, problem=_DAMAGED)

    def finish(self, page: ExtractedPage | PendingOcrPage) -> ExtractedPage:
        """Wait for the OCR of a page and return it."""
        if isinstance(page, ExtractedPage):
            return page
        space = page.geometry
        try:
            result = self._ocr.wait_for_result(page.ticket)
        except OcrFailed as failure:
            return _make_page(page.number, space, ExtractionMethod.NONE, figures=page.figures, problem=str(failure))
        return build_page(
            page.number,
            result,
            width=round(space.width, 2),
            height=round(space.height, 2),
            rotation=space.rotation,
            figures=_without_scan(page.figures, space, words=len(result.words)),
        )

    def _read_page(self, page: PdfPage, number: int) -> ExtractedPage | PendingOcrPage:
        space = page_geometry(page)
        if not max(space.width, space.height) < MAX_COORDINATE:
            return ExtractedPage(number, "", ExtractionMethod.NONE, problem=_TOO_LARGE)
        with closing(page.get_textpage()) as text:
            layout = extract_text_layer(text, space)
            is_scan = layout is not None and is_stamped_scan(page, text, layout, space)
        if layout is None and not has_objects(page):
            return _make_page(number, space, ExtractionMethod.NONE)
        if layout is None or (is_scan and self._resources.tesseract is not None):
            return self._send_to_ocr(page, number, space)
        figures = _without_scan(self._figures(page, space, layout), space, words=len(layout.words))
        return _make_page(number, space, ExtractionMethod.TEXT, layout, figures)

    def _send_to_ocr(self, page: PdfPage, number: int, geometry: PageGeometry) -> ExtractedPage | PendingOcrPage:
        figures = self._figures(page, geometry, EMPTY_TEXT_LAYER)
        if self._resources.tesseract is None:
            return _make_page(number, geometry, ExtractionMethod.NONE, figures=figures, problem=_NO_OCR)
        image = render_gray(page, self._options.ocr_dpi, self._resources)
        return PendingOcrPage(number, self._ocr.submit(image, self._options.ocr_dpi), geometry, figures)

    def _figures(self, page: PdfPage, geometry: PageGeometry, text_layer: TextLayer) -> tuple[Figure, ...]:
        paragraphs = [
            (text_layer.text[paragraph.start : paragraph.end], paragraph.box)
            for paragraph in text_layer.paragraphs
            if paragraph.box is not None
        ]
        return find_figures(page, geometry.to_page, paragraphs, self._options)


def _make_page(
    number: int,
    geometry: PageGeometry,
    method: ExtractionMethod,
    text_layer: TextLayer = EMPTY_TEXT_LAYER,
    figures: tuple[Figure, ...] = (),
    problem: str | None = None,
) -> ExtractedPage:
    return ExtractedPage(
        number,
        text_layer.text,
        method,
        text_layer.paragraphs,
        text_layer.words,
        figures,
        width=round(geometry.width, 2),
        height=round(geometry.height, 2),
        rotation=geometry.rotation,
        problem=problem,
    )


def _without_scan(figures: tuple[Figure, ...], geometry: PageGeometry, *, words: int) -> tuple[Figure, ...]:
    if words < _MAX_SCAN_WORDS:
        return figures
    most = _FULL_PAGE_SHARE * geometry.width * geometry.height
    return tuple(figure for figure in figures if figure.box is None or _box_area(figure.box) < most)


def _box_area(box: Box) -> float:
    left, top, right, bottom = box
    return (right - left) * (bottom - top)
