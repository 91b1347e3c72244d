"""Compute vectors beside the runs of a worker, with lower priority (docs/design.md#embedding)."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import structlog

from muniment.errors import StorageFull, Unavailable
from muniment.processing.pipeline.isolation import GateTurn, IsolationGate
from muniment.search.embedding.port import EmbeddingsRefused
from muniment.search.indexing.embedding import ModelNotInstalled, PassageEmbedding
from muniment.storage.tasks.port import EmbeddingJob, GiveUpSlot, RetryLater

log = structlog.get_logger()

REFUSED_RETRY_SECONDS, MAX_REFUSED_RETRY_SECONDS = 60, 3600
"""Pause after the first refusal, doubled with each further one, and the longest one. Only an operator can end the
cause, so that asking more often is of no use."""
MAX_UNAVAILABLE_RETRY_SECONDS = 300
INTERNAL_ERROR = "Internal error. Details are in the log of the worker"


class ReadingActivity:
    """Tells whether this process is reading documents, and lets vectors wait while it is."""

    def __init__(self) -> None:
        self._runs = 0
        self._idle = asyncio.Event()
        self._idle.set()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Count a run until the end of the block."""
        self._runs += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._runs -= 1
            if self._runs == 0:
                self._idle.set()

    async def pause(self, seconds: float) -> None:
        """Wait so many seconds while documents are being read."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._idle.wait()


class EmbeddingProcessor:
    """Processes the embedding jobs of a worker.

    After each batch it pauses for as long as the batch took, if documents are being read: the model then runs for half
    of the time, in which the system gives it half of the processor, so that it gets a quarter at least. Errors never
    fail anything: the job is requeued, and the reason is recorded with the index.
    """

    def __init__(self, embedding: PassageEmbedding, gate: IsolationGate, activity: ReadingActivity) -> None:
        self._embedding = embedding
        self._gate = gate
        self._activity = activity

    async def __call__(self, job: EmbeddingJob) -> None:
        # Beside an isolated run nothing else is processed: a worker that dies then has died of it.
        async with self._gate.ordinary() as is_awaited:
            turn = GateTurn(job.turn, is_awaited)

            async def after_batch(seconds: float) -> None:
                if await turn.is_over():
                    raise GiveUpSlot
                await self._activity.pause(seconds)

            try:
                await self._embedding.embed(job, after_batch)
            except (GiveUpSlot, RetryLater, asyncio.CancelledError):
                raise
            except Exception as reason:
                raise await self._retry(job, reason) from reason

    async def _retry(self, job: EmbeddingJob, reason: Exception) -> RetryLater:
        """Record the reason, and return when the job is to be tried again."""
        artifact = str(job.artifact_text_id)
        doubled = 2 ** min(job.attempts, 10)
        if isinstance(reason, Unavailable | StorageFull):
            seconds, message = min(MAX_UNAVAILABLE_RETRY_SECONDS, 2 * doubled), reason.message
        elif isinstance(reason, EmbeddingsRefused):
            seconds, message = min(MAX_REFUSED_RETRY_SECONDS, REFUSED_RETRY_SECONDS * doubled), reason.message
        elif isinstance(reason, ModelNotInstalled):
            seconds, message = MAX_UNAVAILABLE_RETRY_SECONDS, "The embedding model is not installed on this worker"
        else:
            seconds, message = min(MAX_REFUSED_RETRY_SECONDS, REFUSED_RETRY_SECONDS * doubled), INTERNAL_ERROR
            log.error("index.embedding_internal_error", artifact_text_id=artifact, exc_info=reason)
        log.warning("index.embedding_delayed", artifact_text_id=artifact, seconds=seconds, error=message)
        with suppress(Unavailable):  # then the database is what is unavailable
            await self._embedding.record_error(job, message)
        return RetryLater(seconds)
