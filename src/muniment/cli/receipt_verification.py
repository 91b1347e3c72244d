"""Verify a receipt offline: without a server, a database or settings."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from muniment.audit.keys import KeyRing
from muniment.audit.receipts.record import InvalidReceipt, VerifiedReceipt, verify_receipt
from muniment.cli.output import FileMissing
from muniment.cli.trusted_key import read_trusted_key


def verify(path: Path, key: str | None) -> VerifiedReceipt:
    """Return the verified receipt or raise `InvalidReceipt`.

    `key` is a key id, a public key, or a file that contains it. With a saved response of GET /api/v1/audit/key,
    receipts of all keys that the current one vouches for are valid.
    """
    text = _read_text(path)
    trusted = None if key is None else read_trusted_key(key)
    if not isinstance(trusted, KeyRing):
        return verify_receipt(text, trusted)
    verified = verify_receipt(text)
    if trusted.successors_of(verified.record["key_id"]) is None:
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
