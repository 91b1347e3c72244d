"""A queue with jobs, a fake Paperless, the real API, and the archiver between them."""

import hashlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from typing import Any
from uuid import UUID, uuid4

from muniment.handover.archiver.archiver import Archiver
from muniment.handover.archiver.monitoring import Alerts
from muniment.handover.archiver.pass_context import ArchiverOptions, PassReport
from muniment.handover.description import DocumentDescription
from muniment.handover.internal.client import InternalApiClient
from muniment.handover.job_key import JobKey
from muniment.handover.paperless.client import PaperlessClient
from muniment.handover.paperless.transport import Timeouts
from muniment.handover.queue import HandoverStores, enqueue
from muniment.handover.sidecar import Sidecar, parse_sidecar
from muniment.storage.objects.port import VersionedObjectStore
from tests.documents.uploads import a_pdf
from tests.handover.archiver.fakes import BytesContent, FakeClock, RecordingNotifier
from tests.handover.handover_api import INTERNAL_KEY, HandoverApi
from tests.support.fake_paperless.fake import FakePaperless, SeenDocument


@dataclass
class ArchiverEnvironment:
    office: HandoverApi
    server: FakePaperless
    clock: FakeClock = field(default_factory=FakeClock)
    notifier: RecordingNotifier = field(default_factory=RecordingNotifier)

    @property
    def stores(self) -> HandoverStores:
        return HandoverStores(self.office.queue, self.office.dead_letters)

    def archiver(self, stores: HandoverStores | None = None, **options: Any) -> Archiver:
        """Build an archiver. The caller closes its two clients; the stores belong to this environment."""
        stores, given = stores or self.stores, options.pop("given_tags", {})
        description = options.pop("description", DocumentDescription())
        paperless = PaperlessClient(self.server.url, self.server.token, timeouts=Timeouts(5, 5))
        paperless.reread_after_seconds = 0
        return Archiver(
            stores,
            paperless,
            InternalApiClient(self.office.api.url, INTERNAL_KEY),
            Alerts(stores.queue, self.notifier, self.clock),
            ArchiverOptions(self.server.url, **options),
            configured_tag_ids=given,
            description=description,
            clock=self.clock,
            random=Random(1),
        )

    async def run(self, stores: HandoverStores | None = None, **options: Any) -> PassReport:
        """Run one pass with a new archiver."""
        async with open_archiver(self.archiver(stores, **options)) as archiver:
            return await archiver.run()

    async def put(self, text: str = "A report", *, document_type: str = "invoice", **fields: Any) -> JobKey:
        """Enqueue a job as a direct producer does, without a record."""
        content = a_pdf(text)
        sidecar = Sidecar(
            organization_id=fields.pop("organization_id", self.office.organization_id),
            organization_name="Firma AS",
            document_type=document_type,
            bilko_document_id=uuid4(),
            timestamp=datetime(2026, 5, 8, 10, 30, tzinfo=UTC),
            sha256=hashlib.sha256(content).hexdigest(),
        )
        await enqueue(self.office.queue, sidecar, BytesContent(content))
        if fields:
            await self.rewrite(sidecar.key, **fields)
        return sidecar.key

    async def rewrite(self, key: JobKey, **fields: Any) -> None:
        """Change fields of the sidecar, as a producer or a later time would."""
        from dataclasses import replace

        sidecar = await self.sidecar(key)
        await self.write(key.sidecar, replace(sidecar, **fields).to_bytes())

    async def write(self, name: str, data: bytes) -> None:
        async with self.office.queue.writer(name) as writer:
            await writer.write(data)

    async def sidecar(self, key: JobKey, store: VersionedObjectStore | None = None) -> Sidecar:
        return parse_sidecar(await (store or self.office.queue).get(key.sidecar))

    async def waiting(self, store: VersionedObjectStore | None = None) -> list[str]:
        return [info.key async for info in (store or self.office.queue).list("org/")]

    def rows(self) -> Mapping[str, Any]:
        """Return the status of every record, by key."""
        return dict(self.office.rows("r2_object_key, archive_status"))

    def documents(self) -> list[SeenDocument]:
        return self.server.documents()

    def another_organization(self) -> UUID:
        return self.office.seed.person().organization_id


@asynccontextmanager
async def open_archiver(archiver: Archiver) -> AsyncIterator[Archiver]:
    try:
        yield archiver
    finally:
        await archiver.paperless.close()
        await archiver.api.close()
