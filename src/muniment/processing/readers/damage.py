"""Files come from strangers, and libraries fail in many ways over them: outside, there is only `Unreadable`."""

from collections.abc import Iterator
from contextlib import contextmanager

from muniment.processing.readers.contract import Code, Unreadable


@contextmanager
def damage_is_unreadable(kind: str) -> Iterator[None]:
    """Let nothing out but `Unreadable` and `MemoryError`. `kind` is what people call such a file."""
    try:
        yield
    except (Unreadable, MemoryError):
        raise
    except Exception as error:
        raise Unreadable(Code.CORRUPT, f"The {kind} file is damaged and cannot be read.") from error
