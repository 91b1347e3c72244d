"""`Range: bytes=…` of RFC 9110, one range at a time."""

import re
from dataclasses import dataclass

SINGLE = re.compile(r"bytes=([0-9]*)-([0-9]*)", re.IGNORECASE)
MAX_DIGITS = 19  # more than any file has bytes


@dataclass(frozen=True)
class ByteRange:
    """From `start` up to, not including, `end`."""

    start: int
    end: int


class NotSatisfiable(Exception):
    """The range lies outside the file."""


def parse_range(header: str | None, size_bytes: int) -> ByteRange | None:
    """The range asked for; `None` when there is none or it is not understood, which means the whole file."""
    match = SINGLE.fullmatch(header.strip()) if header else None
    if match is None or not (match[1] or match[2]):
        return None
    if not match[1]:
        length = _number(match[2])
        if length == 0:
            raise NotSatisfiable
        return ByteRange(max(0, size_bytes - length), size_bytes)
    start = _number(match[1])
    last = _number(match[2]) if match[2] else size_bytes - 1
    if match[2] and last < start:
        return None
    if start >= size_bytes:
        raise NotSatisfiable
    return ByteRange(start, min(last + 1, size_bytes))


def _number(digits: str) -> int:
    # Cut short, because Python refuses to read a number of thousands of digits; what is left is still too large.
    return int(digits.lstrip("0")[:MAX_DIGITS] or "0")
