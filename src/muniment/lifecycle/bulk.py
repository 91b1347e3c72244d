"""Archive or purge many documents of one knowledge base.

Each document has its own transaction, so that a failure affects only that document.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

import structlog

from muniment.accounts.repository import RateLimitRepository
from muniment.documents.repository import DocumentNotFound
from muniment.errors import Conflict, TooManyRequests, Unavailable
from muniment.knowledge_bases.access import get_access
from muniment.lifecycle.engine import MoveEngine
from muniment.lifecycle.moves.archive import archive
from muniment.lifecycle.moves.purge import PurgeService
from muniment.lifecycle.observability import OperationStatus, observe
from muniment.lifecycle.obstacles import HandoverPending
from muniment.lifecycle.proof.prover import Tombstone
from muniment.lifecycle.rules import MoveNotAllowed
from muniment.storage.db.principal import Principal

MAX_UNAVAILABLE = 3
"""A part that is down is not asked a hundred times over: whoever waits learns it after a few."""


@dataclass(frozen=True)
class BulkArchived:
    archived_ids: Sequence[UUID]
    ineligible_ids: Sequence[UUID]
    """Not completed, unknown, or of another knowledge base."""
    unavailable_ids: Sequence[UUID]
    """Unchanged, because a part did not answer."""

    @property
    def skipped_ids(self) -> Sequence[UUID]:
        return [*self.ineligible_ids, *self.unavailable_ids]

    @property
    def message(self) -> str:
        said = [f"{_pluralize_documents(len(self.archived_ids))} archived"]
        if self.ineligible_ids:
            said.append(f"{len(self.ineligible_ids)} skipped (not completed)")
        if self.unavailable_ids:
            said.append(f"{len(self.unavailable_ids)} skipped (no response in time, try again)")
        return ", ".join(said)


def _pluralize_documents(number: int) -> str:
    return f"{number} document" if number == 1 else f"{number} documents"


async def bulk_archive(
    engine: MoveEngine, caller: Principal, kb_id: UUID, document_ids: Sequence[UUID]
) -> BulkArchived:
    """In the order in which they were named, each once."""
    archived, unfit, unanswered = list[UUID](), list[UUID](), list[UUID]()
    async with observe("bulk_archive", kb_id=kb_id, document_id=None, user_id=caller.user_id):
        async with engine.database.work(caller) as work:
            (await get_access(work, kb_id)).require_manage()
        for document_id in dict.fromkeys(document_ids):
            if len(unanswered) >= MAX_UNAVAILABLE:
                unanswered.append(document_id)
                continue
            try:
                await archive(engine, caller, kb_id, document_id)
            except (MoveNotAllowed, DocumentNotFound, Conflict):
                unfit.append(document_id)
            except Unavailable:
                unanswered.append(document_id)
            else:
                archived.append(document_id)
    return BulkArchived(archived, unfit, unanswered)


log = structlog.get_logger()


OPERATION = "bulk_purge"


RATE_LIMIT, RATE_WINDOW = 10, timedelta(minutes=1)


CONCURRENCY = 4
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


async def bulk_purge(purges: PurgeService, caller: Principal, kb_id: UUID, document_ids: Sequence[UUID]) -> BulkPurged:
    """Each of them once, a few at a time; what happens to one stops nobody else."""
    async with observe(OPERATION, kb_id=kb_id, document_id=None, user_id=caller.user_id) as operation:
        await _check_rate_limit(purges, caller, kb_id)
        done, wanted = BulkPurged(), list(dict.fromkeys(document_ids))
        taken = await _purge_all(purges, caller, kb_id, wanted)
        gone = [
            Tombstone(taken_id, one) for one, taken_id in zip(wanted, taken, strict=True) if isinstance(taken_id, UUID)
        ]
        pending = await purges.prover.prove(caller.organization_id, gone)
        for document_id, result in zip(wanted, taken, strict=True):
            is_pending = isinstance(result, UUID) and bool(pending[result])
            _classify(done, document_id, result, is_pending=is_pending)
        operation.status = OperationStatus.PENDING if done.pending_ids else OperationStatus.SUCCESS
    return done


async def _check_rate_limit(purges: PurgeService, caller: Principal, kb_id: UUID) -> None:
    """In a transaction of its own: a call counts also when it fails later."""
    async with purges.engine.database.work(caller) as work:
        (await get_access(work, kb_id)).require_manage()
        if wait := await RateLimitRepository(work.session).acquire(OPERATION, limit=RATE_LIMIT, window=RATE_WINDOW):
            raise TooManyPurges(retry_after_seconds=wait)


async def _purge_all(
    purges: PurgeService, caller: Principal, kb_id: UUID, document_ids: Sequence[UUID]
) -> Sequence[UUID | BaseException]:
    turns = asyncio.Semaphore(CONCURRENCY)

    async def take(document_id: UUID) -> UUID:
        async with turns:
            return await purges.commit_purge(caller, kb_id, document_id, cancel_hand_over=False, bulk=True)

    return await asyncio.gather(*map(take, document_ids), return_exceptions=True)


def _classify(totals: BulkPurged, document_id: UUID, result: UUID | BaseException, *, is_pending: bool) -> None:
    if isinstance(result, UUID):
        (totals.pending_ids if is_pending else totals.purged_ids).append(document_id)
    elif isinstance(result, MoveNotAllowed | HandoverPending | DocumentNotFound):
        totals.skipped_ids.append(document_id)
    elif isinstance(result, Exception):
        log.error("lifecycle.purge_failed", document_id=str(document_id), exc_info=result)
        totals.failed_ids.append(document_id)
    else:
        raise result
