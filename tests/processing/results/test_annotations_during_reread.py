"""Annotating while a worker re-anchors annotations: nothing is lost or attached to another paragraph."""

import asyncio
from uuid import UUID

import psycopg

from muniment.processing.results.annotations import AnnotationService
from muniment.storage.db.address import DatabaseAddress
from tests.processing.results.results_fixture import PAGES, ResultsFixture

FENCE = "SELECT FROM documents WHERE id = %s FOR NO KEY UPDATE"
WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"


async def until_somebody_waits(results_env: ResultsFixture) -> None:
    async with asyncio.timeout(15):
        while not results_env.seed.one(WAITING):  # noqa: ASYNC110  # it observes another process
            await asyncio.sleep(0.02)


async def test_a_writer_waits_for_the_fence_and_learns_that_the_document_was_read_again(
    results_env: ResultsFixture, address: DatabaseAddress
) -> None:
    document_id = await results_env.document()
    old = results_env.seed.one("SELECT artifact_text_id FROM documents")
    await results_env.publish(document_id, PAGES[:1], version=2)
    new = results_env.seed.one("SELECT artifact_text_id FROM documents")
    results_env.seed.execute("UPDATE documents SET artifact_text_id = %s", old)
    with psycopg.connect(address.conninfo) as worker:
        worker.execute(FENCE, (document_id,))
        writing = asyncio.create_task(results_env.patch(document_id, "pages/1/paragraphs/1", annotations={"a": 1}))
        await until_somebody_waits(results_env)
        worker.execute("UPDATE documents SET artifact_text_id = %s", (new,))
        worker.commit()
    answer = await writing
    assert (answer.status_code, answer.json()["detail"]) == (
        409,
        "The document has just been reprocessed. Reload and try again",
    )
    assert results_env.seed.one("SELECT count(*) FROM document_paragraphs") == 0


async def test_two_who_write_on_one_paragraph_for_the_first_time_leave_one_row(results_env: ResultsFixture) -> None:
    document_id = await results_env.document()
    annotator = AnnotationService(
        results_env.api.stores.database, results_env.api.stores.objects, results_env.owner.principal
    )

    async def write(number: int) -> None:
        await annotator.annotate_paragraph(results_env.kb_id, document_id, 1, 1, {"number": number})

    await asyncio.gather(*map(write, range(6)))
    assert results_env.seed.one("SELECT count(*) FROM document_paragraphs") == 1


async def test_fields_written_at_the_same_time_do_not_undo_each_other(results_env: ResultsFixture) -> None:
    document_id: UUID = await results_env.document()
    writers = [
        results_env.patch(document_id, "pages/1", **({"annotations": {"n": 1}} if number % 2 else {"flags": {"n": 2}}))
        for number in range(8)
    ]
    assert {answer.status_code for answer in await asyncio.gather(*writers)} == {200}
    assert (await results_env.json(document_id, "pages/1")).items() >= {
        "annotations": {"n": 1},
        "flags": {"n": 2},
    }.items()
