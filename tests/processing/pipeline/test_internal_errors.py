"""Internal errors: the run is requeued a limited number of times before its document fails."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from muniment.processing.pipeline.nodes.error_handling import INTERNAL_ERROR_RETRY_SECONDS, RetryAfterInternalError
from muniment.processing.readers.errors import Unreadable, UnreadableCode
from muniment.storage.tasks.port import FAST, READING, MoveToQueue, RetryLater
from tests.documents.test_download import damaged_originals
from tests.processing.worker_fixture import WorkerFixture

FAULT = RuntimeError("a fault of the test")


def run_state(worker_env: WorkerFixture) -> tuple[Any, ...]:
    ((*state,),) = worker_env.seed.rows(
        "SELECT r.status, internal_errors, d.status FROM document_processing_runs r JOIN documents d"
        " ON d.id = r.document_id"
    )
    return tuple(state)


async def test_a_run_with_an_internal_error_is_requeued_with_longer_and_longer_pauses(
    worker_env: WorkerFixture,
) -> None:
    worker_env.reader.error = FAULT
    document_id = await worker_env.document()
    pauses = []
    for number in range(1, len(INTERNAL_ERROR_RETRY_SECONDS) + 1):
        with pytest.raises(RetryLater) as retry:
            await worker_env.worker()(worker_env.job(document_id))  # another process each time
        pauses.append(retry.value.seconds)
        assert run_state(worker_env) == ("queued", number, "processing")
    assert pauses == sorted(set(pauses)) == list(INTERNAL_ERROR_RETRY_SECONDS)


async def test_the_last_attempt_fails_the_document(worker_env: WorkerFixture) -> None:
    worker_env.reader.error = FAULT
    document_id = await worker_env.document()
    for _ in INTERNAL_ERROR_RETRY_SECONDS:
        with pytest.raises(RetryAfterInternalError):
            await worker_env.worker()(worker_env.job(document_id))
    await worker_env.worker()(worker_env.job(document_id))
    assert run_state(worker_env) == ("failed", len(INTERNAL_ERROR_RETRY_SECONDS), "failed")
    assert worker_env.seed.one("SELECT error->>'code' FROM document_processing_runs") == "internal"


async def test_an_internal_error_that_goes_away_leaves_no_trace(worker_env: WorkerFixture) -> None:
    worker_env.reader.error = FAULT
    document_id = await worker_env.document()
    with pytest.raises(RetryAfterInternalError):
        await worker_env.worker()(worker_env.job(document_id))
    worker_env.reader.error = None
    await worker_env.worker()(worker_env.job(document_id))
    assert run_state(worker_env) == ("completed", 1, "completed")
    assert worker_env.seed.rows("SELECT last_error, processing_errors FROM documents") == [(None, None)]


async def test_a_damaged_original_is_never_read_and_not_the_fault_of_the_file(worker_env: WorkerFixture) -> None:
    document_id = await worker_env.document(b"bytes")
    key, counted = worker_env.seed.one("SELECT original_uri FROM documents"), damaged_originals()
    await worker_env.objects.put(key, b"other")
    with pytest.raises(RetryAfterInternalError):
        await worker_env.worker()(worker_env.job(document_id))
    assert (worker_env.reader.opened, damaged_originals()) == (0, counted + 1)
    await worker_env.objects.put(key, b"bytes")  # restored from a backup
    await worker_env.worker()(worker_env.job(document_id))
    assert worker_env.status(document_id) == "completed"


async def test_an_outage_and_a_killed_reader_are_not_counted(worker_env: WorkerFixture) -> None:
    worker_env.reader.error = RetryLater(1)
    document_id = await worker_env.document()
    with pytest.raises(RetryLater):
        await worker_env.worker()(worker_env.job(document_id))
    assert run_state(worker_env) == ("queued", 0, "processing")


@contextmanager
def refused_rows(worker_env: WorkerFixture, table: str, condition: str = "false") -> Iterator[None]:
    """Let the database refuse rows of a table, as a bug in a query or a migration would."""
    worker_env.seed.execute(f"ALTER TABLE {table} ADD CONSTRAINT broken CHECK ({condition}) NOT VALID")
    yield
    worker_env.seed.execute(f"ALTER TABLE {table} DROP CONSTRAINT broken")


async def test_known_content_that_cannot_be_published_is_tried_by_the_graph(worker_env: WorkerFixture) -> None:
    await worker_env.process(await worker_env.document())
    document_id = await worker_env.document()
    with refused_rows(worker_env, "document_pages"):
        with pytest.raises(MoveToQueue) as moved:
            await worker_env.worker()(worker_env.job(document_id, FAST))
        assert moved.value.queue == READING
        with pytest.raises(RetryAfterInternalError):
            await worker_env.worker()(worker_env.job(document_id, READING))
    await worker_env.worker()(worker_env.job(document_id, READING))
    assert worker_env.status(document_id) == "completed"


async def test_a_run_that_cannot_be_failed_is_tried_again(worker_env: WorkerFixture) -> None:
    worker_env.reader.error = Unreadable(UnreadableCode.CORRUPT, "The file is damaged.")
    document_id = await worker_env.document()
    with refused_rows(worker_env, "document_processing_steps", "status <> 'failed'"):
        with pytest.raises(RetryAfterInternalError):
            await worker_env.worker()(worker_env.job(document_id))
        assert run_state(worker_env) == ("queued", 1, "processing")
    await worker_env.worker()(worker_env.job(document_id))
    assert worker_env.status(document_id) == "failed"
