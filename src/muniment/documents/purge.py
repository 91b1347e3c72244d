"""Purge documents and revisions.

One transaction deletes the rows and writes ledger entries, audit event and tombstone. Every purge path
goes through this module (invariant I9).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from muniment.artifacts.deletion import DeletedDocument, artifact_deletions
from muniment.audit.events import DocumentEvent
from muniment.audit.log import AuditLog
from muniment.audit.receipts.repository import NewTombstone, ReceiptRepository
from muniment.audit.receipts.tables import ReceiptMove
from muniment.documents.handovers import list_open_handovers
from muniment.documents.repository import DocumentRepository, RevisionRepository
from muniment.documents.tables import Document
from muniment.errors import Forbidden
from muniment.storage.db.base import now
from muniment.storage.db.work import Work
from muniment.storage.deletions.ledger import LedgerRepository, NewLedgerEntry
from muniment.storage.deletions.tables import LedgerStore
from muniment.storage.tasks.port import TaskQueue

ARTIFACT_ENTRY_DELAY = timedelta(days=365)
"""Longer than what was replaced is kept for (`MUNIMENT_ARTIFACT_GRACE_DAYS`)."""


async def may_purge(work: Work[Any], document: Document) -> None:
    """Raises where something keeps the document. Nothing does yet: holds and retention will be decided here."""
    del work, document


async def _delete_rows(
    work: Work[Any], document: Document, *, reason: str, cancelled_jobs: Collection[str] = ()
) -> list[UUID]:
    """Delete the row of a document that the caller holds, with the ledger lines of all its stores; their ids.

    `taken_back`: jobs of the archive queue that nobody carries out any more.
    """
    await may_purge(work, document)
    lines = await _document_entries(work, document, reason=reason)
    lines += await _queue_entries(work, document, cancelled_jobs, reason=reason)
    await DocumentRepository(work.session).delete(document.id)
    return await LedgerRepository(work.session).add(lines)


async def purge_revisions(
    work: Work[Any], document: Document, *, keep: int, reason: str, delete_artifacts: bool
) -> list[UUID]:
    """Delete the rows of all revisions but one, with the ledger lines of their originals; the ids of those lines.

    What was read from them goes with them where nobody else uses it, or is left to the garbage collection; a purge that
    comes before it finds it by the ledger, and takes it along.
    """
    await may_purge(work, document)
    gone = await RevisionRepository(work.session).delete_all_except(document.id, keep)
    lines = [
        NewLedgerEntry(
            document.organization_id, document.kb_id, document.id, LedgerStore.OBJECTS, revision.original_uri, reason
        )
        for revision in gone
    ]
    of_document = DeletedDocument(document.organization_id, document.kb_id, document.id)
    content_keys = [revision.content_hmac for revision in gone]
    not_before = None if delete_artifacts else now() + ARTIFACT_ENTRY_DELAY
    lines += artifact_deletions(of_document, content_keys, reason=reason, not_before=not_before)
    return await LedgerRepository(work.session).add(lines)


async def _queue_entries(
    work: Work[Any], document: Document, cancelled_jobs: Collection[str], *, reason: str
) -> list[NewLedgerEntry]:
    """What is taken back, and dead letters. What waits for the archiver goes its way, and the receipt names it."""
    return [
        NewLedgerEntry(document.organization_id, document.kb_id, document.id, store, unfinished.job_id, reason)
        for unfinished in await list_open_handovers(work.session, document.id)
        if unfinished.job_id in cancelled_jobs or not unfinished.is_pending
        for store in ((LedgerStore.QUEUE,) if unfinished.is_pending else (LedgerStore.QUEUE, LedgerStore.DEAD_LETTERS))
    ]


async def _document_entries(work: Work[Any], document: Document, *, reason: str) -> list[NewLedgerEntry]:
    """What must go from the stores with a document: its originals, and what was read from them unless others use it."""
    documents = DocumentRepository(work.session)
    of_document = DeletedDocument(document.organization_id, document.kb_id, document.id)
    contents = await documents.list_content_keys(document.id)
    originals = [
        NewLedgerEntry(document.organization_id, document.kb_id, document.id, LedgerStore.OBJECTS, key, reason)
        for key, _ in contents
    ]
    content_keys = [document.content_hmac, *(content_key for _, content_key in contents)]
    return [*originals, *artifact_deletions(of_document, content_keys, reason=reason)]


@dataclass(frozen=True)
class Purged:
    """The tombstone that becomes a receipt, and the ledger lines of what is to be erased."""

    receipt_id: UUID
    deletion_ids: Sequence[UUID]


async def purge(
    work: Work[Any],
    document: Document,
    move: ReceiptMove,
    event: DocumentEvent,
    *,
    actor: str | None = None,
    cancelled_jobs: Collection[str] = (),
    tasks: TaskQueue | None = None,
) -> Purged:
    """Remove a document that the caller holds, with its audit line and its tombstone, in one transaction.

    `taken_back`: its jobs of the archive queue, which go with it. `tasks`, where somebody may still read it: they are
    told to stop.
    """
    receipts = ReceiptRepository(work.session)
    stock = await receipts.take_inventory(document.id)
    if stock is None:
        raise Forbidden
    if tasks is not None and stock["is_being_read"]:
        await tasks.revoke_run(work, document.id, document.epoch)
    deletion_ids = await _delete_rows(work, document, reason=move, cancelled_jobs=cancelled_jobs)
    event_id = await AuditLog(work).record(event, actor=actor)
    departure = NewTombstone(
        document.id,
        document.name,
        document.kb_id,
        document.organization_id,
        move,
        actor=actor or work.caller.actor,
        event_id=event_id,
    )
    return Purged(await receipts.add(departure, stock), deletion_ids)
