"""PDF, page by page: by its text layer, and where a page has none that is of use, by OCR.

The `pdf_*` files, in the order of the work: `document` opens, `pages` decides per page, `words` asks PDFium, `lines`,
`columns`, `tables` and `paragraphs` find out how a person reads it, `text` writes it down, `layout` ties them together.
"""

from collections import deque
from collections.abc import Iterator
from contextlib import closing
from typing import BinaryIO

from muniment.processing.readers.contract import Means, Options, Page, Reading
from muniment.processing.readers.pdf_document import open_document
from muniment.processing.readers.pdf_pages import Awaited, PageReader

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
