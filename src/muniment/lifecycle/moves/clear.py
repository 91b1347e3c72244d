"""Clear a failed document: purge it with its partial data (docs/contracts.md#clear)."""

from muniment.audit.events import DocumentCleared, DocumentEvent
from muniment.audit.receipts.tables import ReceiptMove
from muniment.documents.tables import Document
from muniment.lifecycle.moves.purge import PurgingMove
from muniment.lifecycle.rules import Move

REQUESTED = "requested"


class Clear(PurgingMove):
    """Clear a failed document. A failed upload that was cleared automatically answers a repeated call, too."""

    move = Move.CLEAR
    receipt_move = ReceiptMove.CLEAR
    repeated_moves = frozenset({ReceiptMove.CLEAR, ReceiptMove.AUTO_CLEAR})

    def __init__(self, *, reason: str = REQUESTED) -> None:
        self._reason = reason
        self.labels = {"auto": False}

    def event(self, document: Document) -> DocumentEvent:
        return DocumentCleared(document.id, document.kb_id, document.name, reason=self._reason)
