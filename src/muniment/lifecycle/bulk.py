"""Archive or purge many documents of one knowledge base.

Each document has its own transaction, so that a failure affects only that document.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from muniment.accounts.repository import RateLimitRepository
from muniment.documents.repository import DocumentNotFound
from muniment.errors import Conflict, TooManyRequests, Unavailable
from muniment.knowledge_bases.access import get_access
from muniment.lifecycle.engine import MoveEngine, Target
from muniment.lifecycle.moves.archive import Archive
from muniment.lifecycle.moves.purge import Purge, commit_purge
from muniment.lifecycle.observability import DeferredReport, OperationStatus, observe
from muniment.lifecycle.obstacles import HandoverPending
from muniment.lifecycle.proof.prover import Tombstone
from muniment.lifecycle.rules import Move, MoveNotAllowed
from muniment.storage.concurrency import limit_concurrency
from muniment.storage.db.principal import Principal

MAX_UNAVAILABLE = 3
"""After this many documents that could not be archived, the rest is not tried: the caller is waiting."""


@dataclass(frozen=True)
class BulkArchived:
    """Outcome of a bulk archive. Each document is in one of the lists."""

    archived_ids: Sequence[UUID]
    ineligible_ids: Sequence[UUID]
    """Not completed, not found, or of another knowledge base."""
    unavailable_ids: Sequence[UUID]
    """Unchanged, because the external index did not respond."""

    @property
    def skipped_ids(self) -> Sequence[UUID]:
        return [*self.ineligible_ids, *self.unavailable_ids]

    @property
    def message(self) -> str:
        parts = [f"{_pluralize_documents(len(self.archived_ids))} archived"]
        if self.ineligible_ids:
            parts.append(f"{len(self.ineligible_ids)} skipped (not completed)")
        if self.unavailable_ids:
            parts.append(f"{len(self.unavailable_ids)} skipped (no response in time, try again)")
        return ", ".join(parts)


def _pluralize_documents(number: int) -> str:
    return f"{number} document" if number == 1 else f"{number} documents"


async def bulk_archive(
    engine: MoveEngine, caller: Principal, kb_id: UUID, document_ids: Sequence[UUID]
) -> BulkArchived:
    """Archive the documents one after the other, each once, in the order given."""
    archived, ineligible, unavailable = list[UUID](), list[UUID](), list[UUID]()
    async with observe("bulk_archive", kb_id=kb_id, document_id=None, user_id=caller.user_id):
        async with engine.database.work(caller) as work:
            (await get_access(work, kb_id)).require_manage()
        for document_id in dict.fromkeys(document_ids):
            if len(unavailable) >= MAX_UNAVAILABLE:
                unavailable.append(document_id)
                continue
            try:
                await engine.run(Archive(), Target(caller, kb_id, document_id))
            except (MoveNotAllowed, DocumentNotFound, Conflict):
                ineligible.append(document_id)
            except Unavailable:
                unavailable.append(document_id)
            else:
                archived.append(document_id)
    return BulkArchived(archived, ineligible, unavailable)


OPERATION = "bulk_purge"


RATE_LIMIT, RATE_WINDOW = 10, timedelta(minutes=1)


CONCURRENCY = 4
"""Database connections that one call may occupy, so that other requests get theirs."""


class TooManyPurges(TooManyRequests):
    """Too many bulk purges. Try again in a minute"""


@dataclass
class BulkPurged:
    """Outcome of a bulk purge. Each document is in one of the lists."""

    purged_ids: list[UUID] = field(default_factory=list)
    pending_ids: list[UUID] = field(default_factory=list)
    """Deleted and no longer accessible. Not all stores are verified as empty yet."""
    skipped_ids: list[UUID] = field(default_factory=list)
    """Not archived, being handed over, not found, or of another knowledge base."""
    failed_ids: list[UUID] = field(default_factory=list)
    """Unchanged, because of an unexpected error."""

    @property
    def message(self) -> str:
        purged = len(self.purged_ids)
        parts = [f"{_pluralize_documents(purged)} purged"]
        parts += [f"{len(self.skipped_ids)} skipped (not archived)"] if self.skipped_ids else []
        parts += [f"{len(self.pending_ids)} pending"] if self.pending_ids else []
        parts += [f"{len(self.failed_ids)} failed"] if self.failed_ids else []
        return ", ".join(parts)


async def bulk_purge(engine: MoveEngine, caller: Principal, kb_id: UUID, document_ids: Sequence[UUID]) -> BulkPurged:
    """Purge each document once, a few at a time. An error of one does not affect the others."""
    async with observe(OPERATION, kb_id=kb_id, document_id=None, user_id=caller.user_id) as operation:
        await _check_rate_limit(engine, caller, kb_id)
        totals = BulkPurged()
        reports = {
            document_id: DeferredReport(Move.PURGE, kb_id, document_id, caller.user_id)
            for document_id in dict.fromkeys(document_ids)
        }
        results = await _purge_all(engine, caller, kb_id, reports)
        tombstones = [result for result in results if isinstance(result, Tombstone)]
        pending = await engine.prover.prove(caller.organization_id, tombstones)
        for report, result in zip(reports.values(), results, strict=True):
            is_pending = isinstance(result, Tombstone) and bool(pending[result.receipt_id])
            _classify(totals, report, result, is_pending=is_pending)
        operation.status = OperationStatus.PENDING if totals.pending_ids else OperationStatus.SUCCESS
    return totals


async def _check_rate_limit(engine: MoveEngine, caller: Principal, kb_id: UUID) -> None:
    """Count the call in a separate transaction, so that it counts even if it fails later."""
    async with engine.database.work(caller) as work:
        (await get_access(work, kb_id)).require_manage()
        if wait := await RateLimitRepository(work.session).acquire(OPERATION, limit=RATE_LIMIT, window=RATE_WINDOW):
            raise TooManyPurges(retry_after_seconds=wait)


async def _purge_all(
    engine: MoveEngine, caller: Principal, kb_id: UUID, reports: Mapping[UUID, DeferredReport]
) -> Sequence[Tombstone | BaseException]:
    async def purge_one(document_id: UUID) -> Tombstone:
        with reports[document_id].measure():
            return await commit_purge(engine, Purge(bulk=True), Target(caller, kb_id, document_id))

    purges = map(limit_concurrency(purge_one, CONCURRENCY), reports)
    results: list[Tombstone | BaseException] = await asyncio.gather(*purges, return_exceptions=True)
    return results


def _classify(
    totals: BulkPurged, report: DeferredReport, result: Tombstone | BaseException, *, is_pending: bool
) -> None:
    """Put the document into the list of its outcome, and report it as any purge is reported."""
    document_id = report.document_id
    if isinstance(result, Tombstone):
        report.report(OperationStatus.PENDING if is_pending else OperationStatus.SUCCESS)
        (totals.pending_ids if is_pending else totals.purged_ids).append(document_id)
    elif isinstance(result, Exception):
        report.report(OperationStatus.ERROR, result)
        is_skipped = isinstance(result, MoveNotAllowed | HandoverPending | DocumentNotFound)
        (totals.skipped_ids if is_skipped else totals.failed_ids).append(document_id)
    else:
        raise result
