"""What a receipt says, as plain JSON: this and nothing else is signed."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from muniment.audit.canonical import canonical
from muniment.audit.hashes import written
from muniment.audit.receipts.repository import Signed
from muniment.audit.receipts.tables import Receipt
from muniment.audit.sealing import Place
from muniment.audit.signing import Signer

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
