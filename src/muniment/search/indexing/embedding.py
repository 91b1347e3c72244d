"""Compute the vectors of an artifact's passages in batches (docs/design.md#embedding).

The text is searchable by keywords before. Each batch is stored in a separate transaction, so that a process that dies
loses at most one. No transaction is open while the model computes.
"""

import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

import structlog

from muniment.search.embedding.port import Embedder
from muniment.search.indexing.partial_vectors import PartialVectorRepository
from muniment.search.indexing.repository import InstalledModels
from muniment.search.indexing.vectors import VectorRepository, unpack_half_precision
from muniment.search.variants import variant_for
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, Work
from muniment.storage.tasks.port import EmbeddingJob
from muniment.telemetry.metrics import INDEXES

log = structlog.get_logger()

PASSAGES_PER_BATCH = 32
"""Passages that are embedded and stored together. A crash costs at most one batch."""

AfterBatch = Callable[[float], Awaitable[None]]
"""Called after each batch with the seconds that it took. May raise, which interrupts the work."""


class ModelNotInstalled(Exception):  # a request to try again elsewhere, not an error
    """This worker does not have the model. Another one may."""


@dataclass(frozen=True)
class PassageEmbedding:
    """Computes missing vectors with the installed models."""

    database: Database
    installed_models: InstalledModels

    async def embed(self, job: EmbeddingJob, after_batch: AfterBatch) -> None:
        """Store the vectors of all passages that have none yet.

        An artifact that was deleted is not an error: the job is no reference to it.
        """
        async with self._work(job) as work:
            index = await self._vectors(work, job).find_index()
        if index is None or index.embedded_at is not None:
            return
        embedder = self.installed_models.find(job.fingerprint)
        if embedder is None:
            raise ModelNotInstalled
        await self._take_over_partial_vectors(job, embedder)
        while await self._embed_batch(job, embedder, after_batch):
            pass
        INDEXES.labels("compute").inc()
        log.info("index.embedded", artifact_text_id=str(job.artifact_text_id), passages=index.total_chunks)

    async def record_error(self, job: EmbeddingJob, error: str) -> None:
        """Record why the vectors of the artifact are late."""
        async with self._work(job) as work:
            await self._vectors(work, job).set_error(error)

    async def _embed_batch(self, job: EmbeddingJob, embedder: Embedder, after_batch: AfterBatch) -> bool:
        """Compute and store the next batch. Return `False` if there is none, or the artifact was deleted."""
        began = time.monotonic()
        async with self._work(job) as work:
            missing = await self._vectors(work, job).list_missing(limit=PASSAGES_PER_BATCH)
            if not missing:
                await self._vectors(work, job).complete()
                return False
        vectors = await embedder.embed([passage.text for passage in missing])
        async with self._work(job) as work:
            stored = self._vectors(work, job)
            if not await stored.add(missing[0].chunk_index, vectors):
                return False
            await stored.set_error(None)
        await after_batch(time.monotonic() - began)
        return True

    async def _take_over_partial_vectors(self, job: EmbeddingJob, embedder: Embedder) -> None:
        """Begin with the vectors that a run of the previous version has left."""
        async with self._work(job) as work:
            stored = self._vectors(work, job)
            if await stored.count():
                return
            partial = PartialVectorRepository(work.session, job.artifact_text_id, variant_for(embedder))
            if vectors := await partial.list_():
                await stored.add(0, [unpack_half_precision(vector) for vector in vectors])
                await partial.delete()

    def _work(self, job: EmbeddingJob) -> AbstractAsyncContextManager[Work[Service]]:
        # Lost work is repeated: only the loss of the power undoes a transaction that does not wait for the disk.
        return self.database.service_work(Service(job.organization_id), durable=False)

    def _vectors(self, work: Work[Service], job: EmbeddingJob) -> VectorRepository:
        return VectorRepository(work.session, job.artifact_text_id, job.fingerprint)
