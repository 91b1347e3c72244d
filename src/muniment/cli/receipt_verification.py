"""Verify a receipt offline: without a server, a database or settings."""

import base64
import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from muniment.audit.hashing import to_rfc3339
from muniment.audit.keys import KeyRing, PublicKey
from muniment.audit.receipts.record import InvalidReceipt, VerifiedReceipt, verify_receipt
from muniment.cli.output import FileMissing

KEY_BYTES = 32


def verify(path: Path, key: str | None) -> VerifiedReceipt:
    """Return the verified receipt or raise `InvalidReceipt`.

    `key` is a key id, a public key, or a file that contains it. With a saved response of GET /api/v1/audit/key,
    receipts of all keys that the current one vouches for are valid.
    """
    text = _read_text(path)
    if key is None or (ring := _read_key_ring(key)) is None:
        return verify_receipt(text, _read_key(key) if key is not None else None)
    verified = verify_receipt(text)
    if ring.successors_of(verified.record["key_id"]) is None:
        raise InvalidReceipt("The receipt was signed with a key that the given keys do not vouch for")
    return replace(verified, is_key_known=True)


def format_receipt(verified: VerifiedReceipt) -> list[str]:
    record, document = verified.record, verified.record["document"]
    move = record["move"].replace("_", "-").capitalize()
    sentences = [
        f"Valid. {move} of {document['name']!r} ({document['id']}) at {record['at']} by {record['by']}.",
        f"Rechecked at {record['second_look']['at']}: nothing left in any store.",
        *(f"Kept: {_describe_retained(item)}. {item['reason']}." for item in record["kept"]),
        f"Audit log entry: {record['audit']['seq']}, {record['audit']['hash']}.",
    ]
    if verified.is_key_known:
        return [*sentences, f"Signed with the given key ({record['key_id']})."]
    note = "To check that it is from your installation, pass its key with --key (GET /api/v1/audit/key)."
    return [*sentences, f"Signed with the key named in the receipt ({record['key_id']}). {note}"]


def _describe_retained(item: dict[str, Any]) -> str:
    return f"{item['store']} {item.get('id') or item.get('url') or ''}".strip()


def _read_text(path: Path) -> str:
    if not path.is_file():
        raise FileMissing(f"File not found: {path}")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InvalidReceipt("The file is not text") from None


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
