"""What a key looks like, the same for every store, so that an object can move from one store to another."""

import re

_MAX_KEY_BYTES = 1024
_PART = re.compile(r"(?!\.)[ -\[\]-~]{1,255}")


def parts_of(key: str) -> list[str]:
    """The parts of a key, or `ValueError` if it breaks the rules in `Blobs`."""
    parts = key.split("/")
    if len(key) > _MAX_KEY_BYTES or not all(_PART.fullmatch(part) for part in parts):
        raise ValueError(f"not a key: {key!r}")
    return parts


def is_part(name: str) -> bool:
    """Whether a key may have this part."""
    return "/" not in name and _PART.fullmatch(name) is not None


def check_listing(prefix: str, after: str) -> None:
    """`ValueError` unless a key may begin with `prefix` and `after` is a key; both may be empty."""
    if prefix:
        parts_of(prefix.removesuffix("/"))
    if after:
        parts_of(after)


def check_range(start: int, end: int | None) -> None:
    if start < 0 or (end is not None and end < start):
        raise ValueError(f"not a range of bytes: {start} to {end}")
