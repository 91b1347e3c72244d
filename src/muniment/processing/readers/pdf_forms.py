"""What was filled in: form fields and free text lie above a page and are no part of its own text."""

from pypdfium2 import PdfDocument, PdfPage, raw

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
