"""`muniment reprocess`: reprocess all completed documents while their previous results stay available."""

import pytest

from muniment.artifacts.keys import ReadingVariant
from muniment.knowledge_bases.repository import KnowledgeBaseNotFound
from muniment.lifecycle.moves.retry import AlgorithmVersionUnavailable
from muniment.lifecycle.reprocess import BulkReread, RereadProgress
from muniment.storage.db.base import new_id
from muniment.storage.tasks.port import RunRequest
from muniment.storage.tasks.procrastinate.queue import ProcrastinateQueue
from tests.lifecycle.moves.test_retry import NEWER, a_completed, a_failed, pages_shown
from tests.processing.worker_fixture import WorkerFixture


def reprocessing(worker_env: WorkerFixture, **wish: int) -> BulkReread:
    return BulkReread(
        worker_env.database, ProcrastinateQueue(), RunRequest(algorithm_version=wish.get("algorithm_version"))
    )


async def test_every_completed_document_is_reprocessed_and_others_are_left_alone(worker_env: WorkerFixture) -> None:
    document_id = await a_completed(worker_env)
    await a_failed(worker_env, content=b"other bytes")
    stranger = worker_env.seed.person()
    other = await worker_env.document(owner=stranger, kb_id=worker_env.seed.knowledge_base(stranger))
    await worker_env.process(other)
    worker_env.reading = NEWER
    work = reprocessing(worker_env)
    assert await work.enqueue() == 2
    seen = []
    async for progress in work.watch():
        seen.append(progress)
        for queued in (document_id, other):
            await worker_env.process(queued)
    assert seen == [RereadProgress(2, 0, 0), RereadProgress(2, 2, 0)]
    assert pages_shown(worker_env, document_id) == pages_shown(worker_env, other) == [(1, NEWER.params_fingerprint, 2)]


async def test_only_the_knowledge_bases_that_were_named(worker_env: WorkerFixture) -> None:
    await a_completed(worker_env)
    other_kb = worker_env.seed.knowledge_base(worker_env.owner, "Other")
    await worker_env.process(await worker_env.document(kb_id=other_kb))
    assert await reprocessing(worker_env).enqueue([other_kb]) == 1


async def test_a_knowledge_base_that_is_not_there_is_said_before_anything_is_queued(worker_env: WorkerFixture) -> None:
    await a_completed(worker_env)
    with pytest.raises(KnowledgeBaseNotFound):
        await reprocessing(worker_env).enqueue([worker_env.kb_id, new_id()])
    assert worker_env.seed.one("SELECT count(*) FROM document_processing_runs") == 1


async def test_an_older_version_is_queued_where_it_is_stored_and_refused_where_nothing_is(
    worker_env: WorkerFixture,
) -> None:
    worker_env.reading = ReadingVariant(7, "old")
    await a_completed(worker_env)
    worker_env.reading = NEWER
    await worker_env.process(await worker_env.document(b"read by the newer one only"))
    assert await reprocessing(worker_env, algorithm_version=7).enqueue() == 1
    with pytest.raises(AlgorithmVersionUnavailable):
        await reprocessing(worker_env, algorithm_version=8).enqueue()
