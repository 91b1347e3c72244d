"""What stays on purpose when a document goes, and why: a receipt names it."""

from collections.abc import Iterator, Sequence
from typing import Any

from muniment.audit.receipts.tables import Receipt
from muniment.lifecycle.removal.second_look import Look

SHOWN_BY_OTHERS = "Another document has the same contents and shows what was read from them"
ON_ITS_WAY = "These bytes are on their way to the archive, for another document or because the archiver had begun"
IN_THE_ARCHIVE = "It was handed over to the archive before, where it is kept as long as it must be"


def kept_of(receipt: Receipt, look: Look) -> Sequence[dict[str, Any]]:
    artifacts = [
        {"store": "artifacts", "id": str(text_id), "reason": SHOWN_BY_OTHERS} for text_id in sorted(look.used_texts)
    ]
    return [*artifacts, *_in_the_archive(receipt, look)]


def _in_the_archive(receipt: Receipt, look: Look) -> Iterator[dict[str, Any]]:
    hand_over = receipt.found.get("hand_over") or {}
    copies = hand_over.get("copies") or [hand_over]
    for copy in copies:
        if copy.get("status") == "archived":
            yield {"store": "paperless", "url": copy.get("url"), "reason": IN_THE_ARCHIVE}
        elif copy.get("key") and copy["status"] == "pending" and copy["key"] not in look.erased_jobs:
            yield {"store": "queue", "key": copy["key"], "reason": ON_ITS_WAY}
