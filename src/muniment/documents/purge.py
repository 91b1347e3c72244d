"""Purge documents and revisions.

One transaction deletes the rows and writes ledger entries, audit event and tombstone. Every purge path
goes through this module (invariant I9).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from muniment.artifacts.deletion import OfDocument, artifact_lines
from muniment.audit.events import DocumentEvent
from muniment.audit.log import AuditLog
from muniment.audit.receipts.repository import Departure, ReceiptRepository
from muniment.audit.receipts.tables import Ending
from muniment.documents.handovers import list_unfinished
from muniment.documents.repository import DocumentRepository, RevisionRepository
from muniment.documents.tables import Document
from muniment.errors import Forbidden
from muniment.storage.db.base import now
from muniment.storage.db.work import Work
from muniment.storage.deletions.ledger import DeletionRepository, Line
from muniment.storage.deletions.tables import Store
from muniment.storage.tasks.port import Tasks

REMEMBERED = timedelta(days=365)
"""Longer than what was replaced is kept for (`MUNIMENT_ARTIFACT_GRACE_DAYS`)."""


async def may_destroy(work: Work[Any], document: Document) -> None:
    """Raises where something keeps the document. Nothing does yet: holds and retention will be decided here."""
    del work, document


async def destroy(work: Work[Any], document: Document, *, reason: str, taken_back: Collection[str] = ()) -> list[UUID]:
    """Delete the row of a document that the caller holds, with the ledger lines of all its stores; their ids.

    `taken_back`: jobs of the archive queue that nobody carries out any more.
    """
    await may_destroy(work, document)
    lines = await _lines_of(work, document, reason=reason)
    lines += await _queue_lines(work, document, taken_back, reason=reason)
    await DocumentRepository(work.session).remove(document.id)
    return await DeletionRepository(work.session).add(lines)


async def destroy_revisions(
    work: Work[Any], document: Document, *, besides: int, reason: str, with_artifacts: bool
) -> list[UUID]:
    """Delete the rows of all revisions but one, with the ledger lines of their originals; the ids of those lines.

    What was read from them goes with them where nobody else uses it, or is left to the garbage collection; a purge that
    comes before it finds it by the ledger, and takes it along.
    """
    await may_destroy(work, document)
    gone = await RevisionRepository(work.session).take_besides(document.id, besides)
    lines = [
        Line(document.organization_id, document.kb_id, document.id, Store.BLOBS, revision.original_uri, reason)
        for revision in gone
    ]
    of_document = OfDocument(document.organization_id, document.kb_id, document.id)
    content_keys = [revision.content_hmac for revision in gone]
    not_before = None if with_artifacts else now() + REMEMBERED
    lines += artifact_lines(of_document, content_keys, reason=reason, not_before=not_before)
    return await DeletionRepository(work.session).add(lines)


async def _queue_lines(work: Work[Any], document: Document, taken_back: Collection[str], *, reason: str) -> list[Line]:
    """What is taken back, and dead letters. What waits for the archiver goes its way, and the receipt names it."""
    return [
        Line(document.organization_id, document.kb_id, document.id, store, unfinished.job_id, reason)
        for unfinished in await list_unfinished(work.session, document.id)
        if unfinished.job_id in taken_back or not unfinished.is_pending
        for store in ((Store.QUEUE,) if unfinished.is_pending else (Store.QUEUE, Store.DEAD_LETTERS))
    ]


async def _lines_of(work: Work[Any], document: Document, *, reason: str) -> list[Line]:
    """What must go from the stores with a document: its originals, and what was read from them unless others use it."""
    documents = DocumentRepository(work.session)
    of_document = OfDocument(document.organization_id, document.kb_id, document.id)
    contents = await documents.list_contents(document.id)
    originals = [
        Line(document.organization_id, document.kb_id, document.id, Store.BLOBS, key, reason) for key, _ in contents
    ]
    content_keys = [document.content_hmac, *(content_key for _, content_key in contents)]
    return [*originals, *artifact_lines(of_document, content_keys, reason=reason)]


@dataclass(frozen=True)
class Withdrawn:
    """The tombstone that becomes a receipt, and the ledger lines of what is to be erased."""

    receipt_id: UUID
    deletion_ids: Sequence[UUID]


async def withdraw(
    work: Work[Any],
    document: Document,
    move: Ending,
    event: DocumentEvent,
    *,
    actor: str | None = None,
    taken_back: Collection[str] = (),
    tasks: Tasks | None = None,
) -> Withdrawn:
    """Remove a document that the caller holds, with its audit line and its tombstone, in one transaction.

    `taken_back`: its jobs of the archive queue, which go with it. `tasks`, where somebody may still read it: they are
    told to stop.
    """
    receipts = ReceiptRepository(work.session)
    stock = await receipts.take_stock(document.id)
    if stock is None:
        raise Forbidden
    if tasks is not None and stock["is_being_read"]:
        await tasks.revoke_run(work, document.id, document.epoch)
    deletion_ids = await destroy(work, document, reason=move, taken_back=taken_back)
    event_id = await AuditLog(work).record(event, actor=actor)
    departure = Departure(
        document.id,
        document.name,
        document.kb_id,
        document.organization_id,
        move,
        actor=actor or work.caller.actor,
        event_id=event_id,
    )
    return Withdrawn(await receipts.add(departure, stock), deletion_ids)
