"""Opening a PDF without a copy of it in memory, and saying in a sentence why it cannot be opened."""

import ctypes
import mmap
from typing import Any, BinaryIO

from pypdfium2 import PdfDocument, PdfiumError, raw

from muniment.processing.readers.contract import Code, Means, Unreadable

_NEEDS_PASSWORD = (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY)
_PROTECTED = "The PDF is protected by a password. Remove the password and upload it again."
_DAMAGED = "The PDF is damaged or incomplete and cannot be opened."
_NO_PAGES = "The PDF has no pages."


def open_document(file: BinaryIO, means: Means) -> PdfDocument:
    """The document with its form fields, or `Unreadable`. A PDF that opens without a password opens."""
    # PDFium names the last error it had, be it that of an earlier document: have one that no document has.
    raw.FPDF_LoadDocument(b"", None)
    try:
        document = PdfDocument(_mapped(file) or file)
    except PdfiumError as error:
        if error.err_code in _NEEDS_PASSWORD:
            raise Unreadable(Code.ENCRYPTED, _PROTECTED) from error
        # PDFium refuses a document without pages, but has no complaint about it.
        sentence = _NO_PAGES if error.err_code == raw.FPDF_ERR_FILE else _DAMAGED
        raise Unreadable(Code.CORRUPT, sentence) from error
    # Forms have to be there before the first page is touched, or their fields are not drawn.
    document.init_forms()
    _check_pages(len(document), means)
    return document


def _check_pages(total: int, means: Means) -> None:
    if total < 1:
        raise Unreadable(Code.CORRUPT, _NO_PAGES)
    if total > means.max_pages:
        sentence = f"The PDF has {total} pages, at most {means.max_pages} can be read. Split it and upload the parts."
        raise Unreadable(Code.TOO_MANY_PAGES, sentence)


def _mapped(file: BinaryIO) -> Any:
    """The file's bytes as PDFium can use them without copying, or `None` if they are in memory already."""
    try:
        # Copy on write, because ctypes takes no read-only memory; nobody writes, so nothing is copied.
        view = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    except (OSError, ValueError):
        return None
    return (ctypes.c_char * len(view)).from_buffer(view)
