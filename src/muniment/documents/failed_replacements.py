"""Failed replacements: how long their content is kept, and the sweep that deletes it then."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import structlog

from muniment.audit.events import FailedReplacementDeleted
from muniment.audit.log import AuditLog
from muniment.documents.purge import PurgedReplacement, purge_failed_replacement
from muniment.documents.repository import RevisionRepository
from muniment.documents.tables import Document
from muniment.storage.db.base import now
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, Work, list_organizations
from muniment.storage.deletions.ledger import Ledger, process_now

log = structlog.get_logger()

FAILED_REPLACEMENT_LIFETIME = timedelta(days=7)
"""Time for which the content of a failed replacement is kept, unless the document is replaced before."""

REQUESTED, EXPIRED = "requested", "expired"

BATCH = 100


class FailedReplacementSweep:
    """Deletes the content of failed replacements that have expired."""

    def __init__(self, database: Database, ledger: Ledger) -> None:
        self._database = database
        self._ledger = ledger

    async def run(self) -> None:
        """Delete expired failed replacements of all organizations."""
        for organization_id in await list_organizations(self._database):
            await self.expire(organization_id)

    async def expire(self, organization_id: UUID) -> None:
        """Delete one batch of expired failed replacements of an organization."""
        async with self._database.service_work(Service(organization_id)) as work:
            document_ids = await RevisionRepository(work.session).list_expired(now(), limit=BATCH)
            purged = [one for document_id in document_ids if (one := await _purge(work, document_id))]
        if purged:
            deletion_ids = [deletion_id for one in purged for deletion_id in one.deletion_ids]
            await process_now(self._ledger, organization_id, deletion_ids)
            log.info("replacements.expired", organization_id=str(organization_id), count=len(purged))


async def _purge(work: Work[Service], document_id: UUID) -> PurgedReplacement | None:
    document = await work.session.get(Document, document_id)
    if document is None:  # purged meanwhile, and its revisions with it
        return None
    purged = await purge_failed_replacement(work, document, reason="replacement_expired")
    if purged is not None:
        await record_deletion(work, document, purged, reason=EXPIRED)
    return purged


async def record_deletion(work: Work[Any], document: Document, purged: PurgedReplacement, *, reason: str) -> None:
    """Write the audit event of a deleted replacement."""
    event = FailedReplacementDeleted(
        document.id,
        document.kb_id,
        document.name,
        replacement_name=purged.name,
        revision=purged.revision,
        reason=reason,
    )
    await AuditLog(work).record(event)
