from dataclasses import dataclass

from muniment.archival.dead_letters.letters import DeadLetters
from muniment.archival.hand_over import HandOver
from muniment.archival.own_documents import OwnDocuments


@dataclass(frozen=True)
class Archiving:
    """What the endpoints of the archive queue work with. It never touches Paperless."""

    hand_over: HandOver
    own: OwnDocuments
    letters: DeadLetters
    internal_keys: tuple[str, ...]
    """Of the archiver. Without any, `/internal/v1` does not exist."""
    max_bytes: int
