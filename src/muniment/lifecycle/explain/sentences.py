"""Why a document is where it is and what can be done, in sentences."""

from collections.abc import Sequence
from datetime import datetime

from muniment.documents.schemas import READING, WAITING
from muniment.documents.tables import Document, Status
from muniment.lifecycle.explain.facts import Facts, OpenRun
from muniment.lifecycle.explain.obstacles import Judgement
from muniment.lifecycle.rules import Move

INTERRUPTED = "Stored safely; a first attempt to read it was interrupted, and it waits for the next."
REREAD = "It is being read anew; until that is complete the old result answers."
INDEX_UPDATE_NOTE = "The search index did not answer, and is being put back to what the document says."
HANDING_OVER = "It is being handed over to the archive."

ADVICE: dict[tuple[Status, Move], str] = {
    (Status.PENDING, Move.CANCEL): "stop it with `cancel`",
    (Status.PROCESSING, Move.CANCEL): "stop it with `cancel`",
    (Status.COMPLETED, Move.ARCHIVE): "take it out of the search with `archive`",
    (Status.FAILED, Move.RETRY): "have it read again with `retry`",
    (Status.FAILED, Move.REVERT): "bring back what was there before with `replace/revert`",
    (Status.FAILED, Move.REPLACE): "send a better file with `replace`",
    (Status.FAILED, Move.CLEAR): "remove it with `clear`",
    (Status.ARCHIVED, Move.RESTORE): "bring it back with `restore`",
    (Status.ARCHIVED, Move.PURGE): "remove it for good with `purge`",
}


def why(facts: Facts) -> str:
    said = [_of_status(facts.document, facts.run)]
    if facts.run and facts.document.status == Status.COMPLETED:
        said.append(REREAD)
    if facts.is_being_put_back:
        said.append(INDEX_UPDATE_NOTE)
    if facts.document.archive_status == "pending":
        said.append(HANDING_OVER)
    return " ".join(said)


def _of_status(document: Document, run: OpenRun | None) -> str:
    match Status(document.status):
        case Status.PENDING:
            return INTERRUPTED if run and run.attempt else WAITING
        case Status.PROCESSING:
            return f"{READING.removesuffix('.')}: {run.last_step}." if run and run.last_step else READING
        case Status.COMPLETED:
            return f"Read completely{_on(document.completed_at)}; it can be found."
        case Status.FAILED:
            return f"It failed: {document.last_error or 'nobody noted why'}"
        case Status.ARCHIVED:
            return f"Archived{_on(document.archived_at)}; it is kept, and not found until it is restored."


def _on(at: datetime | None) -> str:
    return f" on {at:%Y-%m-%d} at {at:%H:%M} UTC" if at else ""


def advise(facts: Facts, judgements: Sequence[Judgement]) -> list[str]:
    """What can be done next, by the one who asks or by those whom they can ask."""
    advice = []
    for judgement in judgements:
        deed = ADVICE.get((Status(facts.document.status), judgement.move))
        if deed and judgement.is_allowed:
            advice.append(f"You can {deed}.")
        elif deed and judgement.is_possible:
            advice.append(f"Ask the owner or an admin to {deed}.")
    return advice
