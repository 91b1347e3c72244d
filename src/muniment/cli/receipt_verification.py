"""Verify a receipt offline: without a server, a database or settings."""

import base64
from pathlib import Path
from typing import Any

from muniment.audit.receipts.record import ReceiptWrong, Verified, check
from muniment.cli.output import NoSuchFile

KEY_BYTES = 32


def verify(path: Path, key: str | None) -> Verified:
    """`ReceiptWrong` with a sentence otherwise. `key`: its id or itself, or a file that holds it."""
    return check(_text(path), _key(key) if key is not None else None)


def sentences(verified: Verified) -> list[str]:
    record, document = verified.record, verified.record["document"]
    move = record["move"].replace("_", "-").capitalize()
    said = [
        f"Valid. {move} of {document['name']!r} ({document['id']}) at {record['at']} by {record['by']}.",
        f"The second look at {record['second_look']['at']} found nothing left.",
        *(f"Kept: {_thing(item)}. {item['reason']}." for item in record["kept"]),
        f"Place in the audit trail: {record['audit']['seq']}, {record['audit']['hash']}.",
    ]
    if verified.is_key_known:
        return [*said, f"Signed with the key that you gave ({record['key_id']})."]
    note = "Give --key with the one of your installation (GET /api/v1/audit/key) to know that it is yours."
    return [*said, f"Signed with the key that it names itself ({record['key_id']}). {note}"]


def _thing(kept: dict[str, Any]) -> str:
    return f"{kept['store']} {kept.get('id') or kept.get('url') or ''}".strip()


def _text(path: Path) -> str:
    if not path.is_file():
        raise NoSuchFile(f"There is no file {path}")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ReceiptWrong("It is no text") from None


def _key(given: str) -> str:
    path = Path(given)
    if not path.is_file():
        return given.strip()
    data = path.read_bytes()
    return base64.b64encode(data).decode() if len(data) == KEY_BYTES else data.decode("ascii", "replace").strip()
