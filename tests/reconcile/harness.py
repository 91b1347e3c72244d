"""An installation with consistent stores, in which tests create drift."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from muniment.artifacts.keys import ReadingVariant
from muniment.bootstrap.maintenance import build_reconciliation
from muniment.bootstrap.stores import Stores
from muniment.processing.pipeline.context import RunServices
from muniment.processing.pipeline.processor import RunProcessor
from muniment.reconcile.drift import ReconcileScope
from muniment.reconcile.objects import NO_READS, ReadSample
from muniment.reconcile.report import Report
from muniment.reconcile.runner import GracePeriods, NoProgress, ProgressListener, ReconcileRunner
from muniment.settings import Settings
from muniment.storage.db.base import now
from muniment.storage.vectors.port import ExternalIndex, IndexedDocument, VectorSearch
from tests.processing.worker_fixture import WorkerFixture
from tests.support.external_index import copier_of
from tests.support.seed import Seed

NO_GRACE = GracePeriods(unchanged=timedelta(0), orphans=timedelta(0))
"""Without grace periods: only what is really in progress is ignored."""


class IndexedHarness(WorkerFixture):
    """Worker with an external index, if the test has one."""

    index: VectorSearch

    @property
    def services(self) -> RunServices:
        copies = copier_of(self.database, self.index)
        return replace(super().services, index_copier=copies)


@dataclass
class ReconcileHarness:
    settings: Settings
    stores: Stores
    worker_env: WorkerFixture
    grace_periods: GracePeriods = NO_GRACE
    _workers: dict[ReadingVariant, RunProcessor] = field(default_factory=dict)

    @property
    def seed(self) -> Seed:
        return self.worker_env.seed

    @property
    def index(self) -> ExternalIndex:
        assert self.stores.external_index is not None
        return self.stores.external_index

    @property
    def kb_id(self) -> UUID:
        return self.worker_env.kb_id

    def runner(self, subset: ReadSample = NO_READS) -> ReconcileRunner:
        return replace(build_reconciliation(self.settings, self.stores, subset), grace_periods=self.grace_periods)

    async def reconcile(
        self,
        *,
        repair: bool = False,
        kb_ids: Sequence[UUID] = (),
        subset: ReadSample = NO_READS,
        watcher: ProgressListener | None = None,
    ) -> Report:
        return await self.runner(subset).reconcile(now(), repair=repair, kb_ids=kb_ids, listener=watcher)

    async def scope(self) -> ReconcileScope:
        """Return the scope of the only organization."""
        return await self.runner()._build_scope(self.worker_env.owner.organization_id, now(), (), NoProgress())

    async def drift(self, **wishes: Any) -> dict[str, tuple[int, int]]:
        """Return the findings, and how many of them are left."""
        report = await self.reconcile(**wishes)
        return {f"{count.store}/{count.kind}": (count.found, count.remaining) for count in report.rows}

    async def document(self, content: bytes = b"bytes", **columns: Any) -> UUID:
        """Add a pending document with its job in the queue and a complete row."""
        document_id = await self.worker_env.document(content, **columns)
        measured = (len(content), hashlib.sha256(content).hexdigest(), document_id)
        self.seed.execute("UPDATE document_revisions SET file_size = %s, sha256 = %s WHERE document_id = %s", *measured)
        return document_id

    async def completed(self, content: bytes = b"bytes", **columns: Any) -> UUID:
        document_id = await self.document(content, **columns)
        await self.process(document_id)
        assert self.worker_env.status(document_id) == "completed"
        return document_id

    async def process(self, document_id: UUID) -> None:
        """Process the newest run, taken from the queue like a worker does."""
        job_id = self.seed.one(
            "SELECT job_id FROM document_processing_runs WHERE document_id = %s ORDER BY epoch DESC LIMIT 1",
            document_id,
        )
        reading = self.worker_env.reading
        worker = self._workers.get(reading) or self._workers.setdefault(reading, RunProcessor(self.worker_env.services))
        self.seed.execute("INSERT INTO procrastinate_workers DEFAULT VALUES")
        self.seed.execute(
            "UPDATE procrastinate_jobs SET status = 'doing', worker_id = (SELECT max(id) FROM procrastinate_workers)"
            " WHERE id = %s",
            job_id,
        )
        await self.worker_env.process_with(worker, document_id)
        self.seed.execute("DELETE FROM procrastinate_jobs WHERE id = %s", job_id)

    def indexed(self, document_id: UUID) -> IndexedDocument:
        return IndexedDocument(document_id, self.kb_id, self.worker_env.owner.organization_id)

    def original(self, document_id: UUID) -> str:
        return str(self.seed.one("SELECT original_uri FROM documents WHERE id = %s", document_id))

    def pack(self, document_id: UUID) -> str:
        of_document = "SELECT full_text_uri FROM artifacts_full_text t JOIN documents d ON d.artifact_text_id = t.id"
        return str(self.seed.one(f"{of_document} WHERE d.id = %s", document_id))

    async def keys(self) -> set[str]:
        return {info.key async for info in self.stores.objects.list()}
