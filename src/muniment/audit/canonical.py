"""One way to write a value down, so that the same value always has the same hash and the same signature."""

import json
from typing import Any


def canonical(value: Any) -> bytes:
    """JSON with sorted keys and no spaces, in UTF-8. What is not plain JSON raises `TypeError` or `ValueError`."""
    written = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return written.encode()
