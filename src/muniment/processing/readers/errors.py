"""Reasons why a file cannot be read, and a wrapper that turns parser errors into them."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum


@contextmanager
def parser_errors_as_unreadable(kind: str) -> Iterator[None]:
    """Turn every error but `MemoryError` into `Unreadable`. `kind` is the usual name of the file type."""
    try:
        yield
    except (Unreadable, MemoryError):
        raise
    except Exception as error:
        raise Unreadable(UnreadableCode.CORRUPT, f"The {kind} file is damaged and cannot be read.") from error


class UnreadableCode(StrEnum):
    """Reason why a document or one of its pages cannot be read."""

    ENCRYPTED = "encrypted"
    CORRUPT = "corrupt"
    TOO_MANY_PAGES = "too_many_pages"
    TOO_LARGE = "too_large"
    READER_TIMEOUT = "reader_timeout"
    READER_MEMORY = "reader_memory"
    UNSUPPORTED = "unsupported"


class Unreadable(Exception):
    """The file as a whole cannot be read. `message` is a sentence that tells the user what to do."""

    def __init__(self, code: UnreadableCode, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message


MEMORY_MESSAGE = "This file needs too much memory to process. Split it or save it in a simpler format."
