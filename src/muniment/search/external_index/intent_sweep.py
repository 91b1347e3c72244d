"""Settle open intents: change the external index to match the current row of each document."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import structlog
from sqlalchemy import ColumnElement, literal_column, select

from muniment.documents.repository import RevisionRepository
from muniment.documents.tables import Document, Status
from muniment.errors import MunimentError
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, PendingWork, Work, list_organizations_with
from muniment.storage.vectors.intents import IntentRepository
from muniment.storage.vectors.port import ExternalIndex, IndexedDocument
from muniment.storage.vectors.tables import IndexIntent
from muniment.telemetry.metrics import INTENTS_OLDEST_SECONDS, INTENTS_OPEN

log = structlog.get_logger()


BATCH = 100


MAX_FAILURES_PER_SWEEP = 3
"""Stops the sweep early when the index is unavailable, without letting one bad document block the others."""


@dataclass(frozen=True)
class DesiredIndexState:
    """What the external index should hold of a document: whether its points are visible, and their epoch.

    Two of them are equal if the index needs no further change. `IndexState` also has what reconciliation compares.
    """

    is_visible: bool
    index_epoch: int | None
    outdated_epochs: Sequence[int] = ()
    """Epochs of replacements that were reverted, whose points must be deleted."""


class IntentSweep:
    """Settles open intents. Without an external index it deletes those that a former one left."""

    def __init__(self, database: Database, index: ExternalIndex | None) -> None:
        self._database = database
        self._index = index

    async def sweep(self) -> None:
        """Settle the due intents of all organizations, and update the gauges of what is left."""
        still_open, oldest_seconds = 0, 0.0
        for organization_id in await list_organizations_with(self._database, PendingWork.INTENTS):
            await self.settle_due(organization_id)
            async with self._database.service_work(Service(organization_id)) as work:
                count, age = await IntentRepository(work.session).count_open()
            still_open, oldest_seconds = still_open + count, max(oldest_seconds, age)
        INTENTS_OPEN.set(still_open)
        INTENTS_OLDEST_SECONDS.set(oldest_seconds)

    async def settle_due(self, organization_id: UUID) -> int:
        """Settle the due intents of one organization. Return how many were settled."""
        settled, failed = 0, 0
        while settled + failed < BATCH and failed < MAX_FAILURES_PER_SWEEP:
            async with self._database.service_work(Service(organization_id)) as work:
                intent = await IntentRepository(work.session).claim_due()
            if intent is None:
                break
            is_settled = await self._settle(intent)
            settled, failed = settled + is_settled, failed + (not is_settled)
        return settled

    async def _settle(self, intent: IndexIntent) -> bool:
        document = IndexedDocument(intent.document_id, intent.kb_id, intent.organization_id)
        async with self._database.service_work(Service(intent.organization_id)) as work:
            desired = await find_desired_state(work, document)
        try:
            await self._apply(document, desired)
        except MunimentError as error:
            log.warning(
                "index.intent_failed",
                document_id=str(document.document_id),
                wanted=intent.wanted,
                attempts=intent.attempts,
                error=str(error),
            )
            return False
        async with self._database.service_work(Service(intent.organization_id)) as work:
            # The row stays locked until the intent is deleted, so that a later change reaches the index after ours.
            if await find_desired_state(work, document, lock=True) != desired:
                return False
            await IntentRepository(work.session).delete(intent.id)
        return True

    async def _apply(self, document: IndexedDocument, state: DesiredIndexState | None) -> None:
        if self._index is None:
            return
        if state is None:
            await self._index.delete_document(document)
            return
        await self._index.set_visible(document, is_visible=state.is_visible)
        if state.index_epoch is not None:
            await self._index.delete_document(document, before_epoch=state.index_epoch)
        if state.outdated_epochs:
            await self._index.delete_epochs(document, state.outdated_epochs)


async def find_desired_state(
    work: Work[Service], document: IndexedDocument, *, lock: bool = False
) -> DesiredIndexState | None:
    """Return what the index should hold of the document, or `None` if the knowledge base has no such document."""
    index_epoch: ColumnElement[int | None] = literal_column("documents.index_epoch")
    row = select(Document.status, index_epoch, Document.revision).where(
        Document.id == document.document_id, Document.kb_id == document.kb_id
    )
    if lock:
        row = row.with_for_update(key_share=True)
    found = (await work.session.execute(row)).one_or_none()
    if found is None:
        return None
    status, epoch, revision = found
    # Later revisions than the one shown: only a document that is being replaced still needs their points.
    is_settled = status in (Status.COMPLETED, Status.ARCHIVED)
    revisions = RevisionRepository(work.session)
    outdated = await revisions.list_epochs_after(document.document_id, revision) if is_settled else ()
    # Only archived documents are hidden. The passages of a document in processing are visible in the index already,
    # because completing it does not update the index again; until then PostgreSQL filters them out.
    return DesiredIndexState(status != Status.ARCHIVED, epoch, tuple(outdated))
