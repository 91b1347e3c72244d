"""Reader of PDF files: open the file without a copy in memory, and yield pages in order while OCR runs ahead."""

import ctypes
import mmap
from collections import deque
from collections.abc import Iterator
from contextlib import closing
from typing import Any, BinaryIO

from pypdfium2 import PdfDocument, PdfiumError, raw

from muniment.processing.readers.contract import Means, Options, Page, Reading
from muniment.processing.readers.errors import Code, Unreadable
from muniment.processing.readers.pdf.page import Awaited, PageReader

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


_PAGES_AHEAD = 16
"""Pages with text that may wait behind one that OCR is working on."""


def open_file(file: BinaryIO, media_type: str, options: Options, means: Means) -> Reading:
    """Open it, or raise `Unreadable`."""
    document = open_document(file, means)
    total = len(document)
    return Reading(total, _pages(PageReader(document, options, means), total, means.ocr_processes))


def _pages(reader: PageReader, total: int, ocr_processes: int) -> Iterator[Page]:
    """Pages in their order. While OCR works on some, following ones are begun, one more than it works on at a time."""
    with closing(reader):
        waiting: deque[Page | Awaited] = deque()
        for number in range(1, total + 1):
            waiting.append(reader.begin(number))
            while waiting and not _may_wait(waiting, ocr_processes):
                yield reader.finish(waiting.popleft())
        while waiting:
            yield reader.finish(waiting.popleft())


def _may_wait(waiting: deque[Page | Awaited], ocr_processes: int) -> bool:
    if isinstance(waiting[0], Page) or len(waiting) > _PAGES_AHEAD:
        return False
    return sum(isinstance(page, Awaited) for page in waiting) <= ocr_processes
