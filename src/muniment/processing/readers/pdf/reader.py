"""Reader of PDF files: open the file without copying it to memory, and yield pages in order while OCR runs ahead."""

import ctypes
import mmap
from collections import deque
from collections.abc import Iterator
from contextlib import closing
from typing import Any, BinaryIO

from pypdfium2 import PdfDocument, PdfiumError, raw

from muniment.processing.readers.contract import ExtractedPage, OpenedDocument, ReaderResources, ReadingOptions
from muniment.processing.readers.errors import Unreadable, UnreadableCode
from muniment.processing.readers.pdf.page import PageReader, PendingOcrPage

_NEEDS_PASSWORD = (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY)


_PROTECTED = "The PDF is protected by a password. Remove the password and upload it again."


_DAMAGED = "The PDF is damaged or incomplete and cannot be opened."


_NO_PAGES = "The PDF has no pages."


def open_document(file: BinaryIO, resources: ReaderResources) -> PdfDocument:
    """Open the document with its form fields, or raise `Unreadable`. Documents with an empty password can be opened."""
    # PDFium reports the last error, even of an earlier document, so set one that no document has.
    raw.FPDF_LoadDocument(b"", None)
    try:
        document = PdfDocument(_memory_mapped(file) or file)
    except PdfiumError as error:
        if error.err_code in _NEEDS_PASSWORD:
            raise Unreadable(UnreadableCode.ENCRYPTED, _PROTECTED) from error
        # PDFium refuses a document without pages, but reports no error.
        sentence = _NO_PAGES if error.err_code == raw.FPDF_ERR_FILE else _DAMAGED
        raise Unreadable(UnreadableCode.CORRUPT, sentence) from error
    # Forms must be initialized before the first page is loaded, or their fields are not drawn.
    document.init_forms()
    _check_pages(len(document), resources)
    return document


def _check_pages(total: int, resources: ReaderResources) -> None:
    if total < 1:
        raise Unreadable(UnreadableCode.CORRUPT, _NO_PAGES)
    if total > resources.max_pages:
        sentence = (
            f"The PDF has {total} pages, at most {resources.max_pages} can be read. Split it and upload the parts."
        )
        raise Unreadable(UnreadableCode.TOO_MANY_PAGES, sentence)


def _memory_mapped(file: BinaryIO) -> Any:
    """Map the file for PDFium without copying it, or return `None` if it is in memory already."""
    try:
        # Copy on write, because ctypes accepts no read-only memory. Nothing is written, so nothing is copied.
        view = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    except (OSError, ValueError):
        return None
    return (ctypes.c_char * len(view)).from_buffer(view)


_PAGES_AHEAD = 16
"""Pages with text that may wait for an earlier page in OCR."""


def open_file(file: BinaryIO, media_type: str, options: ReadingOptions, resources: ReaderResources) -> OpenedDocument:
    """Open a PDF file, or raise `Unreadable`."""
    document = open_document(file, resources)
    total = len(document)
    numbers = range(resources.first_page, total + 1)
    return OpenedDocument(
        total, _iterate_pages(PageReader(document, options, resources), numbers, resources.ocr_processes)
    )


def _iterate_pages(reader: PageReader, numbers: range, ocr_processes: int) -> Iterator[ExtractedPage]:
    """Yield pages in order. While OCR processes some, later ones are started, one more than it handles at a time."""
    with closing(reader):
        waiting: deque[ExtractedPage | PendingOcrPage] = deque()
        for number in numbers:
            waiting.append(reader.begin(number))
            while waiting and not _can_wait(waiting, ocr_processes):
                yield reader.finish(waiting.popleft())
        while waiting:
            yield reader.finish(waiting.popleft())


def _can_wait(waiting: deque[ExtractedPage | PendingOcrPage], ocr_processes: int) -> bool:
    if isinstance(waiting[0], ExtractedPage) or len(waiting) > _PAGES_AHEAD:
        return False
    return sum(isinstance(page, PendingOcrPage) for page in waiting) <= ocr_processes
