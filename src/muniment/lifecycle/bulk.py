"""Archive or purge many documents of one knowledge base.

Each document has its own transaction, so that a failure affects only that document.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

import structlog

from muniment.accounts.repository import RateRepository
from muniment.documents.repository import DocumentNotFound
from muniment.errors import Conflict, TooManyRequests, Unavailable
from muniment.knowledge_bases.access import get_access
from muniment.lifecycle.engine import Mover
from muniment.lifecycle.moves.archive import archive
from muniment.lifecycle.moves.purge import Removal
from muniment.lifecycle.observability import Outcome, measured
from muniment.lifecycle.obstacles import HandOverPending
from muniment.lifecycle.proof.prover import Tombstone
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
            said.append(f"{len(self.unanswered_ids)} skipped (no response in time, try again)")
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


log = structlog.get_logger()


OPERATION = "bulk_purge"


MOST, WITHIN = 10, timedelta(minutes=1)


AT_ONCE = 4
"""Connections that one call takes: others must not wait for theirs."""


class TooManyPurges(TooManyRequests):
    """Too many bulk purges. Try again in a minute"""


@dataclass
class BulkPurged:
    """Every document that was named is in one of these."""

    purged_ids: list[UUID] = field(default_factory=list)
    pending_ids: list[UUID] = field(default_factory=list)
    """Gone and not to be found; a store was not seen empty yet."""
    skipped_ids: list[UUID] = field(default_factory=list)
    """Not archived, being handed over, unknown, or of another knowledge base."""
    failed_ids: list[UUID] = field(default_factory=list)
    """Unchanged, because something went wrong."""

    @property
    def message(self) -> str:
        purged = len(self.purged_ids)
        said = [f"{purged} document{'' if purged == 1 else 's'} purged"]
        said += [f"{len(self.skipped_ids)} skipped (not archived)"] if self.skipped_ids else []
        said += [f"{len(self.pending_ids)} pending"] if self.pending_ids else []
        said += [f"{len(self.failed_ids)} failed"] if self.failed_ids else []
        return ", ".join(said)


async def bulk_purge(removal: Removal, caller: Principal, kb_id: UUID, document_ids: Sequence[UUID]) -> BulkPurged:
    """Each of them once, a few at a time; what happens to one stops nobody else."""
    async with measured(OPERATION, kb_id=kb_id, document_id=None, user_id=caller.user_id) as operation:
        await _admit(removal, caller, kb_id)
        done, wanted = BulkPurged(), list(dict.fromkeys(document_ids))
        taken = await _take_all(removal, caller, kb_id, wanted)
        gone = [
            Tombstone(taken_id, one) for one, taken_id in zip(wanted, taken, strict=True) if isinstance(taken_id, UUID)
        ]
        pending = await removal.finishing.finish(caller.organization_id, gone)
        for document_id, result in zip(wanted, taken, strict=True):
            is_pending = isinstance(result, UUID) and bool(pending[result])
            _sort_in(done, document_id, result, is_pending=is_pending)
        operation.status = Outcome.PENDING if done.pending_ids else Outcome.SUCCESS
    return done


async def _admit(removal: Removal, caller: Principal, kb_id: UUID) -> None:
    """In a transaction of its own: a call counts also when it fails later."""
    async with removal.mover.database.work(caller) as work:
        (await get_access(work, kb_id)).require_manage()
        if wait := await RateRepository(work.session).admit(OPERATION, most=MOST, within=WITHIN):
            raise TooManyPurges(retry_after_seconds=wait)


async def _take_all(
    removal: Removal, caller: Principal, kb_id: UUID, document_ids: Sequence[UUID]
) -> Sequence[UUID | BaseException]:
    turns = asyncio.Semaphore(AT_ONCE)

    async def take(document_id: UUID) -> UUID:
        async with turns:
            return await removal.take_purged(caller, kb_id, document_id, cancel_hand_over=False, bulk=True)

    return await asyncio.gather(*map(take, document_ids), return_exceptions=True)


def _sort_in(done: BulkPurged, document_id: UUID, result: UUID | BaseException, *, is_pending: bool) -> None:
    if isinstance(result, UUID):
        (done.pending_ids if is_pending else done.purged_ids).append(document_id)
    elif isinstance(result, IllegalMove | HandOverPending | DocumentNotFound):
        done.skipped_ids.append(document_id)
    elif isinstance(result, Exception):
        log.error("lifecycle.purge_failed", document_id=str(document_id), exc_info=result)
        done.failed_ids.append(document_id)
    else:
        raise result
