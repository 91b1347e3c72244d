"""A text is searchable before its vectors exist; they follow in batches, whatever happens meanwhile."""

import asyncio
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from muniment.artifacts.deletion import UnreferencedArtifactRepository
from muniment.processing.pipeline.context import WaitForVectors
from muniment.processing.pipeline.embedding_jobs import ReadingActivity
from muniment.processing.readers.contract import ExtractedPage, ExtractionMethod, Paragraph
from muniment.search.embedding.port import EmbeddingsRefused, EmbeddingsUnavailable
from muniment.search.indexing.embedding import PASSAGES_PER_BATCH
from muniment.search.indexing.partial_vectors import delete_abandoned_vectors
from muniment.search.variants import variant_for
from muniment.storage.db.principal import Service
from muniment.storage.tasks.port import FAST, READING, EmbeddingJob, GiveUpSlot, RetryLater, RunRequest
from tests.processing.worker_fixture import WorkerFixture
from tests.search.letter_embedder import LetterEmbedder
from tests.support.effects import SimulatedCrash
from tests.support.vectors import embed_waiting, embedding_processor, waiting_embeddings

BATCH = PASSAGES_PER_BATCH
PAGES = 3 * BATCH + 1
"""Each page is one passage, so this is the number of passages too."""
REREAD = RunRequest(purpose="reread", force=True)


def page(number: int) -> ExtractedPage:
    text = f"Page {number} says something about the number {number}."
    return ExtractedPage(number, text, ExtractionMethod.TEXT, paragraphs=(Paragraph(0, len(text)),))


@dataclass
class InterruptedEmbedder(LetterEmbedder):
    """Fails once, after this many passages."""

    after: int | None = None
    cause: BaseException | None = None
    embedded: int = field(default=0, init=False)
    model: str = "letters"

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        if self.cause is not None and self.embedded == self.after:
            cause, self.cause = self.cause, None
            raise cause
        return await super().embed(texts)


@dataclass
class TurnOfPassages:
    """Turn that is over after this many passages."""

    embedder: LetterEmbedder
    passages: int

    async def is_over(self) -> bool:
        return self.embedder.embedded >= self.passages


@dataclass
class EmbeddingEnv:
    worker_env: WorkerFixture
    embedder: InterruptedEmbedder

    async def read(self, document_id: UUID, queue: str = READING) -> None:
        """Process the run of a document, but not its vectors."""
        await self.worker_env.worker()(self.worker_env.job(document_id, queue))

    async def embed(self) -> int:
        return await self.worker_env.embed()

    @property
    def job(self) -> EmbeddingJob:
        (job,) = waiting_embeddings(self.worker_env.seed)
        return job

    def status(self, document_id: UUID) -> str:
        return self.worker_env.status(document_id)

    def count(self, table: str) -> Any:
        return self.worker_env.seed.one(f"SELECT count(*) FROM {table}")

    @property
    def is_complete(self) -> bool:
        rows = self.worker_env.seed.rows("SELECT embedded_at IS NOT NULL, embedding_error FROM artifact_indexes")
        return rows == [(True, None)]

    async def require_vectors(self) -> None:
        """Check that each passage has the vector of its text, and that none was computed twice."""
        stored = self.worker_env.seed.rows(
            "SELECT embedding::real[], sketch = binary_quantize(embedding)::bit varying FROM artifact_vectors"
            " ORDER BY chunk_index"
        )
        expected = await LetterEmbedder().embed([page(number).text for number in range(1, PAGES + 1)])
        assert [vector for vector, _ in stored] == [pytest.approx(vector, abs=1e-3) for vector in expected]
        assert all(has_sketch for _, has_sketch in stored)
        assert self.is_complete


@pytest.fixture
def env(worker_env: WorkerFixture) -> EmbeddingEnv:
    return interrupted(worker_env)


def interrupted(worker_env: WorkerFixture, **interruption: Any) -> EmbeddingEnv:
    embedder = worker_env.embedder = InterruptedEmbedder(**interruption)
    worker_env.reader.pages = [page(number) for number in range(1, PAGES + 1)]
    return EmbeddingEnv(worker_env, embedder)


async def test_a_document_is_completed_with_its_text_and_no_vector(env: EmbeddingEnv) -> None:
    document_id = await env.worker_env.document()
    await env.read(document_id)
    assert (env.status(document_id), env.embedder.embedded) == ("completed", 0)
    assert (env.count("artifact_chunks WHERE embedding IS NULL"), env.count("artifact_vectors")) == (PAGES, 0)
    assert not env.is_complete
    assert await env.embed() == 1
    await env.require_vectors()
    assert env.embedder.embedded == PAGES
    steps = "SELECT step_name FROM document_processing_steps WHERE starts_with(step_name, 'Index')"
    assert env.worker_env.seed.rows(steps) == [("IndexText",)]


async def test_two_uploads_of_one_content_share_one_job_and_the_second_does_not_wait(env: EmbeddingEnv) -> None:
    first = await env.worker_env.document()
    await env.read(first)
    second = await env.worker_env.document()
    await env.read(second, FAST)
    assert env.status(second) == "completed"
    assert await env.embed() == 1
    assert env.embedder.embedded == PAGES
    assert await env.embed() == 0


async def test_a_text_without_passages_needs_no_job(env: EmbeddingEnv) -> None:
    env.worker_env.reader.pages = [ExtractedPage(1, "", ExtractionMethod.TEXT)]
    document_id = await env.worker_env.document()
    await env.read(document_id)
    assert (env.status(document_id), env.is_complete, await env.embed()) == ("completed", True, 0)


async def test_a_job_gives_up_its_slot_between_batches_and_keeps_its_vectors(env: EmbeddingEnv) -> None:
    await env.read(await env.worker_env.document())
    process = env.worker_env.embedding()
    for batches in (1, 2, 3):
        with pytest.raises(GiveUpSlot):
            await process(replace(env.job, turn=TurnOfPassages(env.embedder, BATCH)))
        assert env.count("artifact_vectors") == batches * BATCH
    await env.embed()
    await env.require_vectors()
    assert env.embedder.embedded == PAGES


@pytest.mark.parametrize("after", [0, BATCH, 3 * BATCH])
async def test_a_worker_killed_while_the_model_computes_costs_one_batch(worker_env: WorkerFixture, after: int) -> None:
    env = interrupted(worker_env, after=after, cause=SimulatedCrash())
    document_id = await worker_env.document()
    await env.read(document_id)
    with pytest.raises(SimulatedCrash):
        await env.embed()
    assert (env.status(document_id), env.count("artifact_vectors")) == ("completed", after)
    await env.embed()
    await env.require_vectors()
    assert env.embedder.embedded == PAGES


@pytest.mark.parametrize(
    ("error", "seconds"), [(EmbeddingsUnavailable(), 2), (EmbeddingsRefused(), 60), (ValueError("a bug"), 60)]
)
async def test_an_error_delays_the_vectors_and_fails_nothing(
    worker_env: WorkerFixture, error: Exception, seconds: int
) -> None:
    env = interrupted(worker_env, after=BATCH, cause=error)
    document_id = await worker_env.document()
    await env.read(document_id)
    with pytest.raises(RetryLater) as retry:
        await env.embed()
    assert retry.value.seconds == seconds
    shown = worker_env.seed.one("SELECT embedding_error FROM artifact_indexes")
    assert shown == getattr(error, "message", "Internal error. Details are in the log of the worker")
    assert env.status(document_id) == "completed"
    await env.embed()
    await env.require_vectors()
    assert env.embedder.embedded == PAGES


async def test_repeated_refusals_are_retried_ever_more_rarely(worker_env: WorkerFixture) -> None:
    env = interrupted(worker_env)
    await env.read(await worker_env.document())
    for attempts, seconds in ((1, 120), (5, 1920), (50, 3600)):
        env.embedder.after, env.embedder.cause = 0, EmbeddingsRefused()
        with pytest.raises(RetryLater) as retry:
            await worker_env.embedding()(replace(env.job, attempts=attempts))
        assert retry.value.seconds == seconds


async def test_a_worker_without_the_model_leaves_the_job_to_others(env: EmbeddingEnv) -> None:
    await env.read(await env.worker_env.document())
    job = env.job
    env.worker_env.embedder = LetterEmbedder("another")
    with pytest.raises(RetryLater):
        await env.worker_env.embedding()(job)
    assert env.count("artifact_vectors") == 0


async def test_a_purge_meanwhile_ends_the_job_quietly(env: EmbeddingEnv) -> None:
    document_id = await env.worker_env.document()
    await env.read(document_id)
    job = env.job

    async def delete_artifact() -> None:
        env.worker_env.seed.execute("DELETE FROM document_processing_runs")
        env.worker_env.seed.execute("DELETE FROM documents")
        text_id = env.worker_env.seed.one("SELECT id FROM artifacts_full_text")
        async with env.worker_env.database.service_work(Service(job.organization_id)) as work:
            await UnreferencedArtifactRepository(work.session).delete_if_unreferenced(text_id)

    class Purging(InterruptedEmbedder):
        async def embed(self, texts: Sequence[str]) -> list[list[float]]:
            if self.embedded == BATCH:
                await delete_artifact()
            return await super().embed(texts)

    env.worker_env.embedder = env.embedder = Purging()
    await env.worker_env.embedding()(job)
    assert env.embedder.embedded == 2 * BATCH
    assert [env.count(table) for table in ("artifact_vectors", "artifact_chunks", "artifact_indexes")] == [0, 0, 0]
    await env.worker_env.embedding()(job)
    assert env.embedder.embedded == 2 * BATCH


async def test_a_reread_shows_its_text_only_with_all_its_vectors(env: EmbeddingEnv) -> None:
    seed, document_id = env.worker_env.seed, await env.worker_env.document()
    await env.worker_env.process(document_id)
    env.worker_env.embedder = newer = InterruptedEmbedder(model="newer letters")
    seed.execute("UPDATE documents SET epoch = 2")
    await env.worker_env.enqueue(document_id, REREAD, epoch=2)
    with pytest.raises(WaitForVectors):
        await env.read(document_id)
    state = "SELECT status, attempt - yields, last_step, error FROM document_processing_runs WHERE epoch = 2"
    assert seed.rows(state) == [("queued", 0, "IndexText", None)]
    with pytest.raises(WaitForVectors):
        await env.read(document_id)
    assert await env.embed() == 1
    assert newer.embedded == PAGES
    await env.read(document_id)
    assert seed.rows(state) == [("completed", 1, "MarkBasicComplete", None)]


async def test_the_last_vector_resumes_the_reread_that_waits(env: EmbeddingEnv) -> None:
    seed, document_id = env.worker_env.seed, await env.worker_env.document()
    await env.worker_env.process(document_id)
    env.worker_env.embedder = InterruptedEmbedder(model="newer letters")
    seed.execute("UPDATE documents SET epoch = 2")
    await env.worker_env.enqueue(document_id, REREAD, epoch=2)
    with pytest.raises(WaitForVectors):
        await env.read(document_id)
    of_run = "id = (SELECT job_id FROM document_processing_runs WHERE epoch = 2)"
    seed.execute(f"UPDATE procrastinate_jobs SET scheduled_at = now() + interval '1 hour' WHERE {of_run}")
    await env.embed()
    assert seed.one(f"SELECT scheduled_at <= now() FROM procrastinate_jobs WHERE {of_run}")


async def test_a_replacement_is_completed_with_its_text(env: EmbeddingEnv) -> None:
    seed, document_id = env.worker_env.seed, await env.worker_env.document()
    await env.read(document_id)
    job = env.job
    seed.execute(
        "UPDATE documents SET epoch = 2, revision = 2, status = 'pending', artifact_text_id = NULL,"
        " processing_status = NULL"
    )
    await env.worker_env.enqueue(document_id, epoch=2)
    await env.read(document_id, FAST)
    assert env.status(document_id) == "completed"
    await env.worker_env.embedding()(job)
    await env.require_vectors()


async def test_vectors_that_a_run_of_the_previous_version_has_left_are_taken_over(env: EmbeddingEnv) -> None:
    await env.read(await env.worker_env.document())
    vectors = await LetterEmbedder().embed([page(number).text for number in range(1, BATCH + 1)])
    seed, job = env.worker_env.seed, env.job
    packed = b"".join(struct.pack(f"<{len(vector)}e", *vector) for vector in vectors)
    seed.insert(
        "partial_vectors",
        artifact_text_id=job.artifact_text_id,
        fingerprint=job.fingerprint,
        first_chunk=0,
        organization_id=job.organization_id,
        vectors=packed,
    )
    await env.embed()
    await env.require_vectors()
    assert (env.embedder.embedded, env.count("partial_vectors")) == (PAGES - BATCH, 0)


async def test_partial_vectors_that_nobody_came_back_for_are_deleted_after_a_day(env: EmbeddingEnv) -> None:
    await env.read(await env.worker_env.document())
    seed, job = env.worker_env.seed, env.job
    key = {"artifact_text_id": job.artifact_text_id, "organization_id": job.organization_id, "fingerprint": "former"}
    seed.insert("partial_vectors", **key, first_chunk=0, vectors=b"")
    await delete_abandoned_vectors(env.worker_env.database)
    assert env.count("partial_vectors") == 1
    seed.execute("UPDATE partial_vectors SET created_at = created_at - %s", timedelta(days=1, seconds=1))
    await delete_abandoned_vectors(env.worker_env.database)
    assert env.count("partial_vectors") == 0


async def test_each_model_of_a_switch_has_a_job_and_vectors_of_its_own(env: EmbeddingEnv) -> None:
    first = await env.worker_env.document()
    await env.worker_env.process(first)
    former, env.worker_env.other_embedders = env.embedder, (env.embedder,)
    env.worker_env.embedder = InterruptedEmbedder(model="newer letters")
    await env.read(await env.worker_env.document(b"other bytes"))
    jobs = waiting_embeddings(env.worker_env.seed)
    newer = variant_for(env.worker_env.embedder).fingerprint
    assert {job.fingerprint for job in jobs} == {variant_for(former).fingerprint, newer}
    await embed_waiting(
        env.worker_env.seed, embedding_processor(env.worker_env.database, env.worker_env.services.installed_models)
    )
    counts = "SELECT model, count(*)::integer FROM artifact_vectors GROUP BY model ORDER BY model"
    assert env.worker_env.seed.rows(counts) == [("letters", 2 * PAGES), ("newer letters", PAGES)]


async def test_the_model_pauses_only_while_documents_are_read() -> None:
    activity = ReadingActivity()
    await activity.pause(3600)
    with activity.reading():
        pausing = asyncio.create_task(activity.pause(3600))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not pausing.done()
    await pausing
