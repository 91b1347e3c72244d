"""A bound on how deep HTML nests: the parser's time grows with the square of the depth.

Browsers have such a bound too (512 elements). Only tags are left out, never text.
"""

import re
from collections.abc import Iterator

_MAX_DEPTH = 512
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9-]*)")
# They end by themselves, and in honest pages thousands of them are never closed.
_NOT_NESTING_NAMES = """
    area base br col dd dt embed hr img input li link meta option p param source tbody td tfoot th thead tr track
    wbr
"""
_NOT_NESTING = frozenset(_NOT_NESTING_NAMES.split())


def flatten(source: str) -> str:
    """The same page, without the tags below the bound."""
    kept = list(_kept(source))
    return source if len(kept) == 1 else " ".join(kept)


def _kept(source: str) -> Iterator[str]:
    depth = start = 0
    for tag in _TAG.finditer(source):
        if tag[2].lower() in _NOT_NESTING:
            continue
        is_end = bool(tag[1])
        if depth + (not is_end) > _MAX_DEPTH and tag.start() >= start:
            yield source[start : tag.start()]
            end = source.find(">", tag.end())
            start = end + 1 if end >= 0 else len(source)
        depth = max(depth + (-1 if is_end else 1), 0)
    yield source[start:]
