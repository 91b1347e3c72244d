"""Read the option `--key` of the commands that verify evidence offline."""

import base64
import json
from datetime import datetime
from pathlib import Path
from typing import Any

from muniment.audit.hashing import to_rfc3339
from muniment.audit.keys import KeyRing, PublicKey

KEY_BYTES = 32


def read_trusted_key(given: str) -> str | KeyRing:
    """Return a key id or public key as given or as a file contains it, or the keys of an installation.

    A saved response of GET /api/v1/audit/key names all keys that the current one vouches for: what an earlier key has
    signed stays valid.
    """
    ring = _read_key_ring(given)
    return _read_key(given) if ring is None else ring


def _read_key_ring(given: str) -> KeyRing | None:
    """Return the keys in a saved response of GET /api/v1/audit/key, or `None` if this is no such file."""
    path = Path(given)
    try:
        saved: Any = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
        keys = [PublicKey.from_json({**key, "at": _as_signed(key["at"])}) for key in saved["keys"]]
        return KeyRing(keys, base64.b64decode(saved["public_key"], validate=True))
    except (ValueError, TypeError, KeyError):
        return None


def _as_signed(at: str) -> str:
    return to_rfc3339(datetime.fromisoformat(at))


def _read_key(given: str) -> str:
    path = Path(given)
    if not path.is_file():
        return given.strip()
    data = path.read_bytes()
    return base64.b64encode(data).decode() if len(data) == KEY_BYTES else data.decode("ascii", "replace").strip()
