"""Build, sign and verify the record of a receipt: the plain JSON that is signed.

Verification needs no server, only the file and the public key.
"""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from muniment.audit.hashing import canonical, written
from muniment.audit.receipts.repository import Signed
from muniment.audit.receipts.tables import Receipt
from muniment.audit.sealing import Place
from muniment.audit.signing import Signer, key_id_of, verify
from muniment.errors import MunimentError

FORMAT = "muniment-receipt/1"


@dataclass(frozen=True)
class Seen:
    """What the second look found: what was looked for and is still there, by store, and what is kept on purpose."""

    at: datetime
    looked_for: Mapping[str, int]
    left: Mapping[str, int]
    kept: Sequence[Mapping[str, Any]]


def sign(receipt: Receipt, seen: Seen, place: Place, signer: Signer) -> Signed:
    """Whoever calls has seen that nothing is left."""
    record = {
        "format": FORMAT,
        "id": str(receipt.id),
        "move": receipt.move,
        "document": {"id": str(receipt.document_id), "name": receipt.document_name, "kb_id": str(receipt.kb_id)},
        "organization_id": str(receipt.organization_id),
        "by": receipt.actor,
        "at": written(receipt.created_at),
        "found": {**receipt.found, "points": receipt.points},
        "second_look": {"at": written(seen.at), "looked_for": dict(seen.looked_for), "left": dict(seen.left)},
        "kept": [dict(item) for item in seen.kept],
        "audit": {"event_id": str(receipt.event_id), "seq": place.seq, "hash": place.hash},
        "key_id": signer.key_id,
        "public_key": base64.b64encode(signer.public_key).decode(),
    }
    return Signed(receipt.id, record, base64.b64encode(signer.sign(canonical(record))).decode())


NEEDED = ("id", "move", "document", "by", "at", "found", "second_look", "kept", "audit", "key_id", "public_key")


class ReceiptWrong(MunimentError):
    """Not a valid receipt"""


@dataclass(frozen=True)
class Verified:
    record: Mapping[str, Any]
    is_key_known: bool
    """Whether the key was given from outside. One that only the receipt names proves that nothing was changed since it
    was signed, and not by whom."""


def check(written: str, key: str | None = None) -> Verified:
    """`ReceiptWrong` with a sentence unless the text is a receipt whose signature holds.

    `key`: the id of the one that must have signed it, or the public key in base64.
    """
    record, signature = _parts(written)
    public_key = _bytes(record["public_key"], "public key")
    if key_id_of(public_key) != record["key_id"]:
        raise ReceiptWrong("The key ID does not match the public key")
    if key not in (None, record["key_id"]) and _bytes(key, "key that was given") != public_key:
        raise ReceiptWrong("The receipt was signed with another key than the given one")
    if not verify(public_key, canonical(record), signature):
        raise ReceiptWrong("Invalid signature: the receipt was changed, or signed with another key")
    if left := {store: count for store, count in record["second_look"]["left"].items() if count}:
        raise ReceiptWrong(f"The recheck found data that was not deleted: {', '.join(sorted(left))}")
    return Verified(record, key is not None)


def _parts(written: str) -> tuple[dict[str, Any], bytes]:
    try:
        given = json.loads(written)
    except ValueError:
        raise ReceiptWrong("The file is not valid JSON") from None
    if not isinstance(given, dict) or not isinstance(given.get("record"), dict):
        raise ReceiptWrong("The record is missing. Save the complete response of GET /api/v1/receipts/{id}")
    record = given["record"]
    if record.get("format") != FORMAT:
        raise ReceiptWrong(f"The format is not {FORMAT}")
    if missing := [name for name in NEEDED if name not in record]:
        raise ReceiptWrong(f"The record is missing {', '.join(missing)}")
    if not isinstance(record["second_look"], dict) or not isinstance(record["second_look"].get("left"), dict):
        raise ReceiptWrong("The record does not contain the result of the recheck")
    return record, _bytes(given.get("signature"), "signature")


def _bytes(given: Any, what: str) -> bytes:
    try:
        return base64.b64decode(given, validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise ReceiptWrong(f"The {what} is not valid base64") from None
