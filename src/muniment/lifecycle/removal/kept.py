"""What stays on purpose when a document goes, and why: a receipt names it."""

from collections.abc import Sequence
from typing import Any

from muniment.audit.receipts.tables import Receipt
from muniment.lifecycle.removal.second_look import Look

SHOWN_BY_OTHERS = "Another document has the same contents and shows what was read from them"
IN_THE_ARCHIVE = "It was handed over to the archive before, where it is kept as long as it must be"


def kept_of(receipt: Receipt, look: Look) -> Sequence[dict[str, Any]]:
    artifacts = [
        {"store": "artifacts", "id": str(text_id), "reason": SHOWN_BY_OTHERS} for text_id in sorted(look.used_texts)
    ]
    hand_over = receipt.found.get("hand_over") or {}
    if hand_over.get("status") != "archived":
        return artifacts
    return [*artifacts, {"store": "paperless", "url": hand_over.get("url"), "reason": IN_THE_ARCHIVE}]
