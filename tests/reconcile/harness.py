"""An installation whose stores agree, for tests to bring them out of step by hand."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from muniment.artifacts.keys import Variant
from muniment.bootstrap.maintenance import build_reconciliation
from muniment.bootstrap.stores import Stores
from muniment.processing.pipeline.context import Tools
from muniment.processing.pipeline.processor import Processing
from muniment.reconcile.drift import Scope
from muniment.reconcile.objects import NOTHING, Subset
from muniment.reconcile.report import Report
from muniment.reconcile.runner import Nobody, Patience, Reconciliation, Watcher
from muniment.search.external_index.copier import Copies
from muniment.settings import Settings
from muniment.storage.db.base import now
from muniment.storage.tasks.port import FAST, READING, MoveOn
from muniment.storage.vectors.port import Indexed, VectorIndex
from tests.processing.worker_fixture import Desk
from tests.support.seed import Seed

AT_ONCE = Patience(settled=timedelta(0), litter=timedelta(0))
"""Nothing is young: only what is really on its way is left alone."""


class IndexedDesk(Desk):
    """With an index of another engine, if the test has one."""

    index: VectorIndex

    @property
    def tools(self) -> Tools:
        copies = Copies(self.database, self.index) if self.index.holds_copies else None
        return replace(super().tools, copies=copies)


@dataclass
class Floor:
    settings: Settings
    stores: Stores
    desk: Desk
    patience: Patience = AT_ONCE
    _workers: dict[Variant, Processing] = field(default_factory=dict)

    @property
    def seed(self) -> Seed:
        return self.desk.seed

    @property
    def index(self) -> VectorIndex:
        return self.stores.index

    @property
    def kb_id(self) -> UUID:
        return self.desk.kb_id

    def reconciliation(self, subset: Subset = NOTHING) -> Reconciliation:
        return replace(build_reconciliation(self.settings, self.stores, subset), patience=self.patience)

    async def reconcile(
        self,
        *,
        repair: bool = False,
        kb_ids: Sequence[UUID] = (),
        subset: Subset = NOTHING,
        watcher: Watcher | None = None,
    ) -> Report:
        return await self.reconciliation(subset).reconcile(now(), repair=repair, kb_ids=kb_ids, watcher=watcher)

    async def scope(self) -> Scope:
        """Of the one organization."""
        return await self.reconciliation()._scope(self.desk.owner.organization_id, now(), (), Nobody())

    async def drift(self, **wishes: Any) -> dict[str, tuple[int, int]]:
        """What was found, and how much of it is left."""
        report = await self.reconcile(**wishes)
        return {f"{count.store}/{count.kind}": (count.found, count.left) for count in report.lines}

    async def document(self, content: bytes = b"bytes", **columns: Any) -> UUID:
        """Pending, its job in the queue, and its row as true as after an upload."""
        document_id = await self.desk.document(content, **columns)
        measured = (len(content), hashlib.sha256(content).hexdigest(), document_id)
        self.seed.execute("UPDATE document_revisions SET file_size = %s, sha256 = %s WHERE document_id = %s", *measured)
        return document_id

    async def completed(self, content: bytes = b"bytes", **columns: Any) -> UUID:
        document_id = await self.document(content, **columns)
        await self.process(document_id)
        assert self.desk.status(document_id) == "completed"
        return document_id

    async def process(self, document_id: UUID) -> None:
        """Its newest run, taken from the queue as a worker does."""
        job_id = self.seed.one(
            "SELECT job_id FROM document_processing_runs WHERE document_id = %s ORDER BY epoch DESC LIMIT 1",
            document_id,
        )
        reading = self.desk.reading
        worker = self._workers.get(reading) or self._workers.setdefault(reading, Processing(self.desk.tools))
        self.seed.execute("INSERT INTO procrastinate_workers DEFAULT VALUES")
        self.seed.execute(
            "UPDATE procrastinate_jobs SET status = 'doing', worker_id = (SELECT max(id) FROM procrastinate_workers)"
            " WHERE id = %s",
            job_id,
        )
        try:
            await worker(self.desk.job(document_id, FAST))
        except MoveOn:
            await worker(self.desk.job(document_id, READING))
        self.seed.execute("DELETE FROM procrastinate_jobs WHERE id = %s", job_id)

    def indexed(self, document_id: UUID) -> Indexed:
        return Indexed(document_id, self.kb_id, self.desk.owner.organization_id)

    def original(self, document_id: UUID) -> str:
        return str(self.seed.one("SELECT original_uri FROM documents WHERE id = %s", document_id))

    def pack(self, document_id: UUID) -> str:
        of_document = "SELECT full_text_uri FROM artifacts_full_text t JOIN documents d ON d.artifact_text_id = t.id"
        return str(self.seed.one(f"{of_document} WHERE d.id = %s", document_id))

    async def keys(self) -> set[str]:
        return {info.key async for info in self.stores.blobs.list()}
