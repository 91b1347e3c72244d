"""Vectors of an interrupted run are kept, and the next run of the same content continues after them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from muniment.artifacts.deletion import UnreferencedArtifactRepository
from muniment.processing.pipeline.processor import RunProcessor
from muniment.processing.readers.contract import PARAGRAPH_BREAK, ExtractedPage, ExtractionMethod, Paragraph
from muniment.search.embedding.port import EmbeddingsUnavailable
from muniment.search.indexing.builder import PASSAGES_PER_BATCH
from muniment.search.indexing.partial_vectors import delete_abandoned_vectors
from muniment.storage.db.principal import Service
from muniment.storage.tasks.port import READING, GiveUpSlot, Turn
from tests.processing.worker_fixture import WorkerFixture
from tests.search.letter_embedder import LetterEmbedder
from tests.support.effects import SimulatedCrash

PAGES = 5 * PASSAGES_PER_BATCH
"""Each page is one passage, so this is the number of passages too."""
BATCH = PASSAGES_PER_BATCH


def page(number: int) -> ExtractedPage:
    return _page_of(number, f"Page {number} says something about the number {number}.")


def _page_of(number: int, text: str) -> ExtractedPage:
    return ExtractedPage(number, text, ExtractionMethod.TEXT, paragraphs=(Paragraph(0, len(text)),))


class InterruptedEmbedder(LetterEmbedder):
    """Fails once, after this many passages."""

    def __init__(self, after: int | None = None, cause: BaseException | None = None) -> None:
        super().__init__()
        self.after, self.cause = after, cause

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
class IndexEnv:
    worker_env: WorkerFixture
    embedder: InterruptedEmbedder
    interval: float = 0.0

    async def process(self, document_id: UUID, turn: Turn | None = None) -> None:
        services = replace(self.worker_env.services, partial_results_interval=self.interval, minimum_turn=0)
        job = self.worker_env.job(document_id, READING)
        await RunProcessor(services)(replace(job, turn=turn) if turn else job)

    def status(self, document_id: UUID) -> str:
        return self.worker_env.status(document_id)

    def rows(self, table: str) -> Any:
        return self.worker_env.seed.one(f"SELECT count(*) FROM {table}")


def indexing(worker_env: WorkerFixture, **interruption: Any) -> IndexEnv:
    embedder = worker_env.embedder = InterruptedEmbedder(**interruption)
    worker_env.reader.pages = [page(number) for number in range(1, PAGES + 1)]
    return IndexEnv(worker_env, embedder)


async def expected_vectors(embedder: LetterEmbedder) -> list[list[float]]:
    return await LetterEmbedder(embedder.model).embed([page(number).text for number in range(1, PAGES + 1)])


async def test_a_run_gives_up_its_slot_between_two_batches_and_keeps_its_vectors(worker_env: WorkerFixture) -> None:
    env = indexing(worker_env)
    env.interval = 3600
    document_id = await worker_env.document()
    with pytest.raises(GiveUpSlot):
        await env.process(document_id, TurnOfPassages(env.embedder, 2 * BATCH))
    assert env.embedder.embedded == 2 * BATCH
    state = "SELECT status, attempt - yields, failures FROM document_processing_runs"
    assert worker_env.seed.rows(state) == [("queued", 0, 0)]
    assert (env.status(document_id), env.rows("artifact_chunks")) == ("processing", 0)

    await env.process(document_id)
    assert env.embedder.embedded == PAGES, "no passage is embedded twice"
    assert (env.status(document_id), env.rows("partial_vectors")) == ("completed", 0)


async def test_a_run_may_give_up_its_slot_after_every_batch(worker_env: WorkerFixture) -> None:
    env = indexing(worker_env)
    document_id = await worker_env.document()
    turns = 0
    while env.status(document_id) != "completed":
        turns += 1
        try:
            await env.process(document_id, TurnOfPassages(env.embedder, BATCH))
        except GiveUpSlot:
            assert turns * BATCH == env.embedder.embedded
    assert env.embedder.embedded == PAGES


async def test_a_killed_run_continues_with_the_missing_passages(worker_env: WorkerFixture) -> None:
    env = indexing(worker_env, after=3 * BATCH, cause=SimulatedCrash())
    document_id = await worker_env.document()
    with pytest.raises(SimulatedCrash):
        await env.process(document_id)
    await env.process(document_id)
    assert env.embedder.embedded == PAGES
    stored = worker_env.seed.rows("SELECT embedding::real[] FROM artifact_chunks ORDER BY chunk_index")
    expected = await expected_vectors(env.embedder)
    assert [vector for (vector,) in stored] == [pytest.approx(vector, abs=1e-3) for vector in expected]


LONG_PAGE = PARAGRAPH_BREAK.join(f"Paragraph {number} " + "word " * 150 for number in range(3 * BATCH))


@pytest.mark.parametrize("texts", [None, [LONG_PAGE]], ids=["many pages", "one long page"])
async def test_an_embedding_endpoint_that_is_away_costs_one_batch(
    worker_env: WorkerFixture, texts: Sequence[str] | None
) -> None:
    env = indexing(worker_env, after=BATCH, cause=EmbeddingsUnavailable())
    if texts:
        worker_env.reader.pages = [_page_of(number, text) for number, text in enumerate(texts, 1)]
    document_id = await worker_env.document()
    await env.process(document_id)  # the node is repeated at once
    assert (env.status(document_id), env.rows("partial_vectors")) == ("completed", 0)
    assert env.embedder.embedded == env.rows("artifact_chunks") > 2 * BATCH


async def test_a_worker_killed_before_anything_is_stored_costs_all_passages(worker_env: WorkerFixture) -> None:
    env = indexing(worker_env, after=3 * BATCH, cause=SimulatedCrash())
    env.interval = 3600
    document_id = await worker_env.document()
    with pytest.raises(SimulatedCrash):
        await env.process(document_id)
    await env.process(document_id)
    assert (env.status(document_id), env.embedder.embedded) == ("completed", 3 * BATCH + PAGES)


async def test_vectors_of_another_model_or_with_a_gap_are_not_used(worker_env: WorkerFixture) -> None:
    env = indexing(worker_env, after=3 * BATCH, cause=SimulatedCrash())
    document_id = await worker_env.document()
    with pytest.raises(SimulatedCrash):
        await env.process(document_id)
    worker_env.seed.execute("DELETE FROM partial_vectors WHERE first_chunk = %s", BATCH)
    await env.process(document_id)
    assert env.embedder.embedded == 3 * BATCH + PAGES - BATCH


async def interrupted_document(worker_env: WorkerFixture) -> UUID:
    env = indexing(worker_env, after=BATCH, cause=SimulatedCrash())
    document_id = await worker_env.document()
    with pytest.raises(SimulatedCrash):
        await env.process(document_id)
    assert env.rows("partial_vectors") == 1
    return document_id


async def test_they_are_deleted_with_the_artifact(worker_env: WorkerFixture) -> None:
    await interrupted_document(worker_env)
    worker_env.seed.execute("UPDATE document_processing_runs SET status = 'failed', artifact_text_id = NULL")
    artifact_id = worker_env.seed.one("SELECT id FROM artifacts_full_text")
    async with worker_env.database.service_work(Service(worker_env.owner.organization_id)) as work:
        assert await UnreferencedArtifactRepository(work.session).delete_if_unreferenced(artifact_id)
    assert worker_env.seed.one("SELECT count(*) FROM partial_vectors") == 0


async def test_what_no_run_came_back_for_is_deleted_after_a_day(worker_env: WorkerFixture) -> None:
    await interrupted_document(worker_env)
    await delete_abandoned_vectors(worker_env.database)
    assert worker_env.seed.one("SELECT count(*) FROM partial_vectors") == 1
    worker_env.seed.execute("UPDATE partial_vectors SET created_at = created_at - %s", timedelta(hours=25))
    await delete_abandoned_vectors(worker_env.database)
    assert worker_env.seed.one("SELECT count(*) FROM partial_vectors") == 0
