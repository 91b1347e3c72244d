"""`muniment reprocess`: all completed documents anew, while the old results answer."""

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


def reprocessing(desk: WorkerFixture, **wish: int) -> BulkReread:
    return BulkReread(desk.database, ProcrastinateQueue(), RunRequest(algorithm_version=wish.get("algorithm_version")))


async def test_every_completed_document_is_read_anew_and_others_are_left_alone(desk: WorkerFixture) -> None:
    document_id = await a_completed(desk)
    await a_failed(desk, content=b"other bytes")
    stranger = desk.seed.person()
    other = await desk.document(owner=stranger, kb_id=desk.seed.knowledge_base(stranger))
    await desk.process(other)
    desk.reading = NEWER
    work = reprocessing(desk)
    assert await work.enqueue() == 2
    seen = []
    async for progress in work.watch():
        seen.append(progress)
        for queued in (document_id, other):
            await desk.process(queued)
    assert seen == [RereadProgress(2, 0, 0), RereadProgress(2, 2, 0)]
    assert pages_shown(desk, document_id) == pages_shown(desk, other) == [(1, NEWER.params_fingerprint, 2)]


async def test_only_the_knowledge_bases_that_were_named(desk: WorkerFixture) -> None:
    await a_completed(desk)
    other_kb = desk.seed.knowledge_base(desk.owner, "Other")
    await desk.process(await desk.document(kb_id=other_kb))
    assert await reprocessing(desk).enqueue([other_kb]) == 1


async def test_a_knowledge_base_that_is_not_there_is_said_before_anything_is_queued(desk: WorkerFixture) -> None:
    await a_completed(desk)
    with pytest.raises(KnowledgeBaseNotFound):
        await reprocessing(desk).enqueue([desk.kb_id, new_id()])
    assert desk.seed.one("SELECT count(*) FROM document_processing_runs") == 1


async def test_an_older_version_is_queued_where_it_is_stored_and_refused_where_nothing_is(desk: WorkerFixture) -> None:
    desk.reading = ReadingVariant(7, "old")
    await a_completed(desk)
    desk.reading = NEWER
    await desk.process(await desk.document(b"read by the newer one only"))
    assert await reprocessing(desk, algorithm_version=7).enqueue() == 1
    with pytest.raises(AlgorithmVersionUnavailable):
        await reprocessing(desk, algorithm_version=8).enqueue()
