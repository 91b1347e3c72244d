"""A worker that dies at any statement of an embedding job loses one batch at most (docs/design.md#embedding)."""

from collections.abc import Sequence
from contextlib import suppress

import pytest

from muniment.processing.readers.contract import ExtractedPage, ExtractionMethod, Paragraph
from muniment.search.indexing.embedding import PASSAGES_PER_BATCH
from muniment.storage.tasks.port import READING
from tests.faults.effects import RunEffectRecorder, die_at
from tests.processing.conftest import worker_env  # noqa: F401
from tests.processing.worker_fixture import WorkerFixture
from tests.support.effects import SimulatedCrash
from tests.support.vectors import waiting_embeddings

PASSAGES = PASSAGES_PER_BATCH + 1
STORED = """
    SELECT chunk_index, embedding::text, embedded_at IS NOT NULL FROM artifact_vectors JOIN artifact_indexes
     USING (artifact_text_id, fingerprint) ORDER BY chunk_index
"""


def pages() -> Sequence[ExtractedPage]:
    texts = [f"Page {number} is about the number {number}." for number in range(PASSAGES)]
    return [
        ExtractedPage(number, text, ExtractionMethod.TEXT, paragraphs=(Paragraph(0, len(text)),))
        for number, text in enumerate(texts, 1)
    ]


def begin_again(worker_env: WorkerFixture) -> None:  # noqa: F811
    worker_env.seed.execute("DELETE FROM artifact_vectors")
    worker_env.seed.execute("UPDATE artifact_indexes SET embedded_at = NULL, embedding_error = NULL")
    worker_env.embedder.embedded = 0


@pytest.mark.slow
async def test_wherever_a_worker_dies_one_batch_is_computed_again_at_most(worker_env: WorkerFixture) -> None:  # noqa: F811
    worker_env.reader.pages = pages()
    document_id = await worker_env.document()
    await worker_env.worker()(worker_env.job(document_id, READING))
    (job,) = waiting_embeddings(worker_env.seed)

    async def embed(effects: RunEffectRecorder) -> None:
        with effects.watch(worker_env.database, worker_env.locks), suppress(SimulatedCrash):
            await worker_env.embedding()(job)
        await worker_env.database.service_engine.dispose()

    undisturbed = RunEffectRecorder()
    await embed(undisturbed)
    expected = worker_env.seed.rows(STORED)
    assert [(index, is_complete) for index, _, is_complete in expected] == [(n, True) for n in range(PASSAGES)]
    assert len(undisturbed.recorded) > 20

    for number in range(len(undisturbed.recorded)):
        begin_again(worker_env)
        await embed(RunEffectRecorder(die_at(number)))
        assert worker_env.status(document_id) == "completed"
        await worker_env.embedding()(job)
        assert worker_env.seed.rows(STORED) == expected, undisturbed.recorded[number]
        assert worker_env.embedder.embedded <= PASSAGES + PASSAGES_PER_BATCH, undisturbed.recorded[number]
