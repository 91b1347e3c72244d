"""What broken uploads leave, cleared up organization by organization."""

from datetime import timedelta
from uuid import UUID

import structlog

from muniment.documents.repository import UploadRepository
from muniment.storage.blobs.port import Blobs
from muniment.storage.db.base import now
from muniment.storage.db.organizations import Waiting, list_organizations, list_waiting
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.storage.deletions.ledger import DeletionRepository, Ledger, Line
from muniment.storage.deletions.tables import Store
from muniment.telemetry.metrics import DELETIONS_OLDEST_SECONDS, DELETIONS_PENDING

log = structlog.get_logger()

BATCH = 100


class Sweeps:
    def __init__(self, database: Database, blobs: Blobs, ledger: Ledger, *, upload_lifetime: timedelta) -> None:
        self._database = database
        self._blobs = blobs
        self._ledger = ledger
        self._upload_lifetime = upload_lifetime

    async def uploads(self) -> None:
        """Forget uploads that never became a document, and what writers that were killed left behind."""
        for organization_id in await list_organizations(self._database):
            await self.expired_uploads(organization_id)
        abandoned = await self._blobs.remove_abandoned(before=now() - self._upload_lifetime)
        if abandoned:
            log.info("uploads.abandoned_removed", count=abandoned)

    async def expired_uploads(self, organization_id: UUID) -> None:
        """Of one organization, as many as go into one batch."""
        async with self._database.service_work(Service(organization_id)) as work:
            # Only objects whose row this very statement deletes: a slow commit keeps its bytes.
            expired = await UploadRepository(work.session).take_expired(now(), limit=BATCH)
            deletion_ids = await DeletionRepository(work.session).add(
                Line(item.organization_id, item.kb_id, item.document_id, Store.BLOBS, item.blob_key, "upload_expired")
                for item in expired
            )
        if expired:
            await self._ledger.carry_out(organization_id, deletion_ids)
            log.info("uploads.expired", organization_id=str(organization_id), count=len(expired))

    async def deletions(self) -> None:
        """Carry out what is due in the ledger, and say how much is left."""
        pending, oldest_seconds = 0, 0.0
        for organization_id in await list_waiting(self._database, Waiting.DELETIONS):
            await self._ledger.carry_out(organization_id, limit=BATCH)
            async with self._database.service_work(Service(organization_id)) as work:
                count, age = await DeletionRepository(work.session).count_pending()
            pending, oldest_seconds = pending + count, max(oldest_seconds, age)
        DELETIONS_PENDING.set(pending)
        DELETIONS_OLDEST_SECONDS.set(oldest_seconds)
