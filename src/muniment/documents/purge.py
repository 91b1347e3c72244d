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
from muniment.documents.tables import Document, Revision
from muniment.errors import Forbidden
from muniment.storage.db.base import now
from muniment.storage.db.work import Work
from muniment.storage.deletions.ledger import LedgerRepository, NewLedgerEntry
from muniment.storage.deletions.tables import LedgerStore
from muniment.storage.tasks.port import TaskQueue

ARTIFACT_ENTRY_DELAY = timedelta(days=365)
"""Longer than garbage collection keeps what was replaced (`MUNIMENT_ARTIFACT_GRACE_DAYS`)."""


async def may_purge(work: Work[Any], document: Document) -> None:
    """Raise if a hold or a retention period protects the document. Neither exists yet; they will be decided here.

    Who may purge is decided before, by `lifecycle.rules`.
    """
    del work, document


async def _delete_rows(
    work: Work[Any], document: Document, *, reason: str, cancelled_jobs: Collection[str] = ()
) -> list[UUID]:
    """Delete the row of a locked document and add ledger entries for all its stores. Return the ids of the entries."""
    await may_purge(work, document)
    entries = await _document_entries(work, document, reason=reason)
    entries += await _queue_entries(work, document, cancelled_jobs, reason=reason)
    await DocumentRepository(work.session).delete(document.id)
    return await LedgerRepository(work.session).add(entries)


async def purge_revisions(
    work: Work[Any], document: Document, *, keep: Collection[int], reason: str, delete_artifacts: bool
) -> list[UUID]:
    """Delete the rows of all revisions but these, add ledger entries for their originals, and return the entries' ids.

    With `delete_artifacts`, artifacts that nothing else references are deleted too. Otherwise they are left to garbage
    collection, with ledger entries that let an earlier purge of the document find them.
    """
    await may_purge(work, document)
    deleted = await RevisionRepository(work.session).delete_all_except(document.id, keep)
    return await _add_revision_entries(work, document, deleted, reason=reason, delete_artifacts=delete_artifacts)


@dataclass(frozen=True)
class PurgedReplacement:
    """A failed replacement whose row was deleted, and the ledger entries of its content."""

    revision: int
    name: str
    deletion_ids: Sequence[UUID]


async def purge_failed_replacement(work: Work[Any], document: Document, *, reason: str) -> PurgedReplacement | None:
    """Delete the document's failed replacement, or return None if it has none or another process has just deleted it.

    The document need not be locked: of two concurrent calls, only the one that deletes the row deletes its content.
    """
    await may_purge(work, document)
    deleted = await RevisionRepository(work.session).delete_failed(document.id)
    if not deleted:
        return None
    entries = await _add_revision_entries(work, document, deleted, reason=reason, delete_artifacts=True)
    return PurgedReplacement(deleted[-1].revision, deleted[-1].name, entries)


async def _add_revision_entries(
    work: Work[Any], document: Document, deleted: Sequence[Revision], *, reason: str, delete_artifacts: bool
) -> list[UUID]:
    entries = [
        NewLedgerEntry(
            document.organization_id, document.kb_id, document.id, LedgerStore.OBJECTS, revision.original_uri, reason
        )
        for revision in deleted
    ]
    of_document = DeletedDocument(document.organization_id, document.kb_id, document.id)
    content_keys = [revision.content_hmac for revision in deleted]
    not_before = None if delete_artifacts else now() + ARTIFACT_ENTRY_DELAY
    entries += artifact_deletions(of_document, content_keys, reason=reason, not_before=not_before)
    return await LedgerRepository(work.session).add(entries)


async def _queue_entries(
    work: Work[Any], document: Document, cancelled_jobs: Collection[str], *, reason: str
) -> list[NewLedgerEntry]:
    """Return entries for cancelled jobs and dead letters. Other pending jobs continue, and the receipt names them."""
    return [
        NewLedgerEntry(document.organization_id, document.kb_id, document.id, store, handover.job_id, reason)
        for handover in await list_open_handovers(work.session, document.id)
        if handover.job_id in cancelled_jobs or not handover.is_pending
        for store in ((LedgerStore.QUEUE,) if handover.is_pending else (LedgerStore.QUEUE, LedgerStore.DEAD_LETTERS))
    ]


async def _document_entries(work: Work[Any], document: Document, *, reason: str) -> list[NewLedgerEntry]:
    """Return entries for the originals of a document and for the artifacts that nothing else references."""
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
    """The tombstone that becomes a receipt, and the ledger entries of what is to be deleted."""

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
    """Delete a locked document, with its audit event and its tombstone, in one transaction.

    `cancelled_jobs` are its hand-over jobs that are deleted with it. `tasks` is given if a worker may still process the
    document; its run is revoked.
    """
    receipts = ReceiptRepository(work.session)
    inventory = await receipts.take_inventory(document.id)
    if inventory is None:
        raise Forbidden
    if tasks is not None and inventory["is_being_read"]:
        await tasks.revoke_run(work, document.id, document.epoch)
    deletion_ids = await _delete_rows(work, document, reason=move, cancelled_jobs=cancelled_jobs)
    event_id = await AuditLog(work).record(event, actor=actor)
    tombstone = NewTombstone(
        document.id,
        document.name,
        document.kb_id,
        document.organization_id,
        move,
        actor=actor or work.caller.actor,
        event_id=event_id,
    )
    return Purged(await receipts.add(tombstone, inventory), deletion_ids)
