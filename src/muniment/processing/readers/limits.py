"""Limits on what a file may become, whatever its format.

They are counted twice: in the sandboxed child, so that it stops early, and in the worker, which does not trust it. They
can end a reading but never change its result, so they are not part of the fingerprint.
"""

from muniment.processing.readers.contract import ExtractedPage, ReaderResources
from muniment.processing.readers.errors import Unreadable, UnreadableCode

MAX_WORDS = 10_000_000
"""Words of a document, and words with a position. Beyond it, the rows of a document do not fit into memory."""
ALWAYS_ALLOWED_CHARACTERS = 5_000_000
"""A text up to this length may be any number of times as large as its file."""
_ADVICE = "Split it and upload the parts."


class LimitCounter:
    """Adds up what has been read of one file, and raises `Unreadable` as soon as it is too much."""

    def __init__(self, resources: ReaderResources, file_bytes: int | None = None) -> None:
        """Count for a file of this size; without it, the expansion is not checked."""
        self._resources = resources
        self._file_bytes = file_bytes
        self.pages = self._paragraphs = self._characters = self._figures = 0
        self._words = self._positions = 0

    def require_pages(self, total: int) -> None:
        """Raise `Unreadable` if a file of so many pages is too long."""
        if total > self._resources.max_pages:
            message = f"This file has more than {self._resources.max_pages:,} pages. {_ADVICE}"
            raise Unreadable(UnreadableCode.TOO_MANY_PAGES, message)

    def add_page(self, page: ExtractedPage) -> None:
        """Count a page that a reader returned."""
        self._words += len(page.text.split())
        self._positions += len(page.words)
        self.add(paragraphs=len(page.paragraphs), characters=len(page.text), figures=len(page.figures))
        self.end_page()
        _require(max(self._words, self._positions), MAX_WORDS, "words")
        self._require_expansion()

    def add(self, *, paragraphs: int, characters: int, figures: int) -> None:
        """Count a part of a page."""
        resources = self._resources
        self._paragraphs += paragraphs
        self._characters += characters
        self._figures += figures
        _require(self._paragraphs, resources.max_paragraphs, "paragraphs")
        _require(self._characters, resources.max_characters, "characters")
        _require(self.pages + self._paragraphs + self._figures, resources.max_rows, "pages, paragraphs and figures")

    def end_page(self) -> None:
        """Count a page whose parts have been counted."""
        self.pages += 1
        self.require_pages(self.pages)

    def _require_expansion(self) -> None:
        if self._file_bytes is None or self._characters <= ALWAYS_ALLOWED_CHARACTERS:
            return
        if self._characters > self._file_bytes * self._resources.max_expansion:
            raise expansion_error(self._resources.max_expansion)


def expansion_error(max_expansion: int) -> Unreadable:
    """Return the error of a small file that unpacks to a huge one."""
    message = f"The content of this file is more than {max_expansion:,} times as large as the file. {_ADVICE}"
    return Unreadable(UnreadableCode.TOO_LARGE, message)


def _require(count: int, limit: int, what: str) -> None:
    if count > limit:
        raise Unreadable(UnreadableCode.TOO_LARGE, f"This file has more than {limit:,} {what}. {_ADVICE}")
