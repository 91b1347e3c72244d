"""Archiving many documents of one knowledge base, each on its own: what happens to one stops nobody else."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from muniment.documents.repository import DocumentNotFound
from muniment.errors import Conflict, Unavailable
from muniment.knowledge_bases.access import get_access
from muniment.lifecycle.archive import archive
from muniment.lifecycle.measured import measured
from muniment.lifecycle.mover import Mover
from muniment.lifecycle.rules import IllegalMove
from muniment.storage.db.principal import Principal

MAX_UNANSWERED = 3
"""A part that is down is not asked a hundred times over: whoever waits learns it after a few."""


@dataclass(frozen=True)
class BulkArchived:
    archived_ids: Sequence[UUID]
    unfit_ids: Sequence[UUID]
    """Not completed, unknown, or of another knowledge base."""
    unanswered_ids: Sequence[UUID]
    """Unchanged, because a part did not answer."""

    @property
    def skipped_ids(self) -> Sequence[UUID]:
        return [*self.unfit_ids, *self.unanswered_ids]

    @property
    def message(self) -> str:
        said = [f"{_counted(len(self.archived_ids))} archived"]
        if self.unfit_ids:
            said.append(f"{len(self.unfit_ids)} skipped (not completed)")
        if self.unanswered_ids:
            said.append(f"{len(self.unanswered_ids)} skipped (no answer in time, try again)")
        return ", ".join(said)


def _counted(number: int) -> str:
    return f"{number} document" if number == 1 else f"{number} documents"


async def bulk_archive(mover: Mover, caller: Principal, kb_id: UUID, document_ids: Sequence[UUID]) -> BulkArchived:
    """In the order in which they were named, each once."""
    archived, unfit, unanswered = list[UUID](), list[UUID](), list[UUID]()
    async with measured("bulk_archive", kb_id=kb_id, document_id=None, user_id=caller.user_id):
        async with mover.database.work(caller) as work:
            (await get_access(work, kb_id)).require_manage()
        for document_id in dict.fromkeys(document_ids):
            if len(unanswered) >= MAX_UNANSWERED:
                unanswered.append(document_id)
                continue
            try:
                await archive(mover, caller, kb_id, document_id)
            except (IllegalMove, DocumentNotFound, Conflict):
                unfit.append(document_id)
            except Unavailable:
                unanswered.append(document_id)
            else:
                archived.append(document_id)
    return BulkArchived(archived, unfit, unanswered)
