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

from muniment.audit.hashing import canonical_json, to_rfc3339
from muniment.audit.receipts.repository import SignedRecord
from muniment.audit.receipts.tables import Receipt
from muniment.audit.sealing import SealPosition
from muniment.audit.signing import Signer, key_id_of, verify
from muniment.errors import MunimentError

FORMAT = "muniment-receipt/1"


@dataclass(frozen=True)
class InventoryResult:
    """Result of the second check: what is still there, by store, and what is retained on purpose."""

    at: datetime
    expected: Mapping[str, int]
    remaining: Mapping[str, int]
    retained: Sequence[Mapping[str, Any]]


def sign_receipt(receipt: Receipt, inventory: InventoryResult, position: SealPosition, signer: Signer) -> SignedRecord:
    """Sign the record. The caller has verified that nothing is left."""
    record = {
        "format": FORMAT,
        "id": str(receipt.id),
        "move": receipt.move,
        "document": {"id": str(receipt.document_id), "name": receipt.document_name, "kb_id": str(receipt.kb_id)},
        "organization_id": str(receipt.organization_id),
        "by": receipt.actor,
        "at": to_rfc3339(receipt.created_at),
        "found": {**receipt.found, "points": receipt.points},
        "second_look": {
            "at": to_rfc3339(inventory.at),
            "looked_for": dict(inventory.expected),
            "left": dict(inventory.remaining),
        },
        "kept": [dict(item) for item in inventory.retained],
        "audit": {"event_id": str(receipt.event_id), "seq": position.seq, "hash": position.hash},
        "key_id": signer.key_id,
        "public_key": base64.b64encode(signer.public_key).decode(),
    }
    return SignedRecord(receipt.id, record, base64.b64encode(signer.sign(canonical_json(record))).decode())


REQUIRED_FIELDS = (
    "id",
    "move",
    "document",
    "by",
    "at",
    "found",
    "second_look",
    "kept",
    "audit",
    "key_id",
    "public_key",
)


class InvalidReceipt(MunimentError):
    """Not a valid receipt"""


@dataclass(frozen=True)
class VerifiedReceipt:
    record: Mapping[str, Any]
    is_key_known: bool
    """Whether the key was given by the caller.

    A key named only in the receipt proves that nothing was changed since it was signed, but not by whom.
    """


def verify_receipt(text: str, key: str | None = None) -> VerifiedReceipt:
    """Verify the signature of a receipt, or raise `InvalidReceipt` with the reason.

    `key` is the id or the public key (base64) that must have signed it.
    """
    record, signature = _parse(text)
    public_key = _decode_base64(record["public_key"], "public key")
    if key_id_of(public_key) != record["key_id"]:
        raise InvalidReceipt("The key ID does not match the public key")
    if key not in (None, record["key_id"]) and _decode_base64(key, "key that was given") != public_key:
        raise InvalidReceipt("The receipt was signed with another key than the given one")
    if not verify(public_key, canonical_json(record), signature):
        raise InvalidReceipt("Invalid signature: the receipt was changed, or signed with another key")
    if left := {store: count for store, count in record["second_look"]["left"].items() if count}:
        raise InvalidReceipt(f"The recheck found data that was not deleted: {', '.join(sorted(left))}")
    return VerifiedReceipt(record, key is not None)


def _parse(text: str) -> tuple[dict[str, Any], bytes]:
    try:
        given = json.loads(text)
    except ValueError:
        raise InvalidReceipt("The file is not valid JSON") from None
    if not isinstance(given, dict) or not isinstance(given.get("record"), dict):
        raise InvalidReceipt("The record is missing. Save the complete response of GET /api/v1/receipts/{id}")
    record = given["record"]
    if record.get("format") != FORMAT:
        raise InvalidReceipt(f"The format is not {FORMAT}")
    if missing := [name for name in REQUIRED_FIELDS if name not in record]:
        raise InvalidReceipt(f"The record is missing {', '.join(missing)}")
    if not isinstance(record["second_look"], dict) or not isinstance(record["second_look"].get("left"), dict):
        raise InvalidReceipt("The record does not contain the result of the recheck")
    return record, _decode_base64(given.get("signature"), "signature")


def _decode_base64(given: Any, what: str) -> bytes:
    try:
        return base64.b64decode(given, validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise InvalidReceipt(f"The {what} is not valid base64") from None
