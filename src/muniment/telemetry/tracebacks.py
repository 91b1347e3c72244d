"""Tracebacks for the log: frames and messages, never the values of local variables."""

import traceback
from collections.abc import Iterator
from textwrap import indent

from structlog.typing import ExcInfo

from muniment.telemetry.masking import mask_values


def render_traceback(exc_info: ExcInfo) -> str:
    """The error with what led to it, oldest first.

    Written by hand because each message must be masked on its own, before it is joined with the others: where a quoted
    value ends cannot be told from the finished text.
    """
    return "".join(_parts(exc_info[1], seen=set())).rstrip()


def _parts(error: BaseException, seen: set[int]) -> Iterator[str]:
    seen.add(id(error))
    earlier = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if earlier is not None and id(earlier) not in seen:
        yield from _parts(earlier, seen)
        yield "\nwhich led to:\n\n"
    yield "Traceback (most recent call last):\n"
    yield from traceback.format_tb(error.__traceback__)
    yield f"{type(error).__module__}.{type(error).__qualname__}: {mask_values(str(error))}\n"
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield indent("".join(_parts(inner, seen)), "  | ")
