"""From a queued run to a completed document: computed once, found by everyone afterwards."""

import pytest
from sqlalchemy import Connection, event

from muniment.artifacts.deletion import ArtifactDeleter, DeletedDocument, artifact_deletions
from muniment.artifacts.keys import SharingScope, reading_variant
from muniment.artifacts.repository import ArtifactKey
from muniment.artifacts.text_packs import read_page_text
from muniment.processing.pipeline.nodes.extract_text import compute_lock_name
from muniment.processing.readers.errors import Unreadable, UnreadableCode
from muniment.storage.db.principal import Service
from muniment.storage.deletions.deleters import ObjectDeleter
from muniment.storage.deletions.ledger import Ledger, LedgerRepository, reserve
from muniment.storage.deletions.tables import LedgerStore
from muniment.storage.objects.port import ObjectNotFound
from muniment.storage.tasks.port import FAST, READING, MoveToQueue, RetryLater
from tests.processing.worker_fixture import FIRST_TEXT, SECOND_TEXT, WorkerFixture, last_attempt

ROWS = {
    "artifacts_full_text": 1,
    "artifact_pages": 2,
    "artifact_paragraphs": 3,
    "artifact_diagrams": 3,
    "document_pages": 2,
    "document_paragraphs": 0,
    "document_diagrams": 3,
}


def counts(worker_env: WorkerFixture) -> dict[str, int]:
    return {table: worker_env.seed.one(f"SELECT count(*) FROM {table}") for table in ROWS}


async def test_unknown_content_is_read_and_completed(worker_env: WorkerFixture) -> None:
    document_id = await worker_env.document()
    assert await worker_env.process(document_id) == READING
    assert counts(worker_env) == ROWS
    row = worker_env.seed.rows(
        """SELECT status, processing_status, total_pages, total_word_count, text_extraction_method, last_error,
                  completed_at IS NOT NULL, artifact_text_id IS NOT NULL FROM documents"""
    )[0]
    assert row == ("completed", "basic_complete", 2, 8, "mixed", None, True, True)
    run = "SELECT status, last_step, artifact_text_id, ended_at IS NOT NULL FROM document_processing_runs"
    assert worker_env.seed.rows(run) == [("completed", "MarkBasicComplete", None, True)]
    assert worker_env.seed.one("SELECT count(*) FROM deletions") == 0


async def test_nothing_is_rolled_back_on_the_way_of_unknown_content(worker_env: WorkerFixture) -> None:
    """A rollback would make the driver drop all prepared statements of its connection."""
    rolled_back: list[Connection] = []
    event.listen(worker_env.database.service_engine.sync_engine, "rollback", rolled_back.append)
    assert await worker_env.process(await worker_env.document()) == READING
    assert rolled_back == []


async def test_the_text_of_each_page_is_in_the_pack(worker_env: WorkerFixture) -> None:
    await worker_env.process(await worker_env.document())
    pages = worker_env.seed.rows("SELECT page_text_uri, page_text_sha256 FROM artifact_pages ORDER BY page_number")
    assert [await read_page_text(worker_env.objects, *page) for page in pages] == [FIRST_TEXT, SECOND_TEXT]


async def test_known_content_is_finished_by_the_fast_slot_without_opening_the_file(worker_env: WorkerFixture) -> None:
    await worker_env.process(await worker_env.document())
    second = await worker_env.document()
    await worker_env.objects.delete(f"{worker_env.kb_id}/{second}/1/original")
    assert await worker_env.process(second) == FAST
    assert worker_env.status(second) == "completed"
    assert worker_env.reader.opened == 1
    assert counts(worker_env) == {**ROWS, "document_pages": 4, "document_diagrams": 6}


async def test_known_content_that_nobody_shows_yet_gets_its_diagrams(worker_env: WorkerFixture) -> None:
    """The worker died after reading and indexing, before it published anything."""
    first = await worker_env.document()
    await worker_env.process(first)
    worker_env.seed.execute("DELETE FROM documents WHERE id = %s", first)
    worker_env.seed.execute("DELETE FROM artifact_diagrams")
    second = await worker_env.document()
    assert await worker_env.process(second) == FAST
    assert counts(worker_env) == ROWS


async def test_people_see_the_same_steps_whether_computed_or_found(worker_env: WorkerFixture) -> None:
    first, second = await worker_env.document(), await worker_env.document()
    for document_id in (first, second):
        await worker_env.process(document_id)
    steps = "SELECT step_name, status FROM document_processing_steps WHERE run_id = %s ORDER BY 1"
    shown = [worker_env.seed.rows(steps, worker_env.job(document_id).run_id) for document_id in (first, second)]
    assert shown[0] == shown[1]
    assert len(shown[0]) == 11


async def test_a_diagram_key_contains_the_page_and_tells_twins_apart(worker_env: WorkerFixture) -> None:
    await worker_env.process(await worker_env.document())
    digest = "ab" * 8
    keys = worker_env.seed.rows("SELECT diagram_key FROM document_diagrams ORDER BY 1")
    assert [key for (key,) in keys] == [f"p1-{digest}", f"p1-{digest}-2", f"p2-{digest}"]


async def test_other_organizations_compute_for_themselves(worker_env: WorkerFixture) -> None:
    await worker_env.process(await worker_env.document())
    stranger = worker_env.seed.person()
    document_id = await worker_env.document(owner=stranger, kb_id=worker_env.seed.knowledge_base(stranger))
    assert await worker_env.process(document_id) == READING
    assert counts(worker_env)["artifacts_full_text"] == 2


async def test_somebody_computing_the_same_puts_the_job_back(worker_env: WorkerFixture) -> None:
    document_id = await worker_env.document()
    content_key = worker_env.seed.one("SELECT content_hmac FROM documents")
    key = ArtifactKey(worker_env.owner.organization_id, content_key, worker_env.reading)
    async with worker_env.locks.try_acquire(compute_lock_name(key)):
        with pytest.raises(RetryLater):
            await worker_env.process(document_id)
    assert worker_env.reader.opened == 0
    await worker_env.worker()(worker_env.job(document_id))
    assert worker_env.status(document_id) == "completed"


async def test_an_unreadable_file_fails_with_a_code_and_a_sentence(worker_env: WorkerFixture) -> None:
    worker_env.reader.error = Unreadable(UnreadableCode.ENCRYPTED, "The file is protected by a password.")
    document_id = await worker_env.document()
    await worker_env.process(document_id)
    status, last_error, errors, run = worker_env.seed.rows(
        "SELECT d.status, last_error, processing_errors, r.status FROM documents d JOIN document_processing_runs r"
        " ON r.document_id = d.id"
    )[0]
    assert (status, last_error, run) == ("failed", "The file is protected by a password.", "failed")
    assert errors == [{"code": "encrypted", "message": last_error, "step": "ExtractText"}]
    step = "SELECT status, error->>'code' FROM document_processing_steps WHERE step_name = 'ExtractText'"
    assert worker_env.seed.rows(step) == [("failed", "encrypted")]


async def test_an_unexpected_error_fails_the_document_and_names_nothing_of_it(worker_env: WorkerFixture) -> None:
    worker_env.reader.error = ValueError("a secret sentence of the document")
    document_id = await worker_env.document()
    await last_attempt(lambda: worker_env.process(document_id))
    (error,) = worker_env.seed.one("SELECT processing_errors FROM documents")
    assert error["code"] == "internal"
    assert "secret" not in error["message"]


async def test_without_sharing_every_document_is_computed_and_completed(worker_env: WorkerFixture) -> None:
    worker_env.scope = SharingScope.DOCUMENT
    for _ in range(2):
        document_id = await worker_env.document()
        assert await worker_env.process(document_id) == READING
        assert worker_env.status(document_id) == "completed"
    assert counts(worker_env)["artifacts_full_text"] == 2


async def test_shared_by_all_another_organization_finds_it_and_saves_nothing_that_shows(
    worker_env: WorkerFixture,
) -> None:
    worker_env.scope = SharingScope.SHARED
    await worker_env.process(await worker_env.document())
    stranger = worker_env.seed.person()
    document_id = await worker_env.document(owner=stranger, kb_id=worker_env.seed.knowledge_base(stranger))
    assert await worker_env.process(document_id) == FAST
    assert worker_env.seed.rows("SELECT organization_id FROM artifacts_full_text") == [(None,)]
    assert worker_env.seed.rows("SELECT saved_seconds FROM document_processing_runs") == [(None,), (None,)]


async def test_reuse_within_the_organization_is_counted_as_saved(worker_env: WorkerFixture) -> None:
    await worker_env.process(await worker_env.document())
    worker_env.seed.execute("UPDATE artifacts_full_text SET timings = '{\"seconds\": 12.5}'")
    second = await worker_env.document()
    await worker_env.process(second)
    saved = "SELECT saved_seconds FROM document_processing_runs WHERE document_id = %s"
    assert worker_env.seed.one(saved, second) == 12.5


async def test_another_variant_computes_beside_the_old_one(worker_env: WorkerFixture) -> None:
    await worker_env.process(await worker_env.document())
    worker_env.reading = reading_variant({"of": "a newer reader"})
    assert await worker_env.process(await worker_env.document()) == READING
    assert counts(worker_env)["artifacts_full_text"] == 2


async def test_what_moves_on_to_be_read_names_its_content_so_that_it_is_read_once(worker_env: WorkerFixture) -> None:
    document_id = await worker_env.document()
    with pytest.raises(MoveToQueue) as moved:
        await worker_env.worker()(worker_env.job(document_id, FAST))
    assert (moved.value.queue, moved.value.content_key) == (
        READING,
        worker_env.seed.one("SELECT content_hmac FROM documents"),
    )


async def test_what_went_well_has_no_error_at_all(worker_env: WorkerFixture) -> None:
    await worker_env.process(await worker_env.document())
    assert (
        worker_env.seed.one("SELECT count(*) FROM documents WHERE processing_errors IS NULL AND last_error IS NULL")
        == 1
    )
    assert worker_env.seed.one("SELECT count(*) FROM document_processing_runs WHERE error IS NULL") == 1


async def test_whoever_clears_a_document_clears_what_its_dead_worker_wrote(worker_env: WorkerFixture) -> None:
    document_id = await worker_env.document()
    key = "artifacts/somebody/unkept"
    await worker_env.objects.put(key, b"text")
    service = Service(worker_env.owner.organization_id)
    async with worker_env.database.service_work(service) as work:
        await reserve(work, key, kb_id=worker_env.kb_id, document_id=document_id)
        of_document = DeletedDocument(worker_env.owner.organization_id, worker_env.kb_id, document_id)
        lines = artifact_deletions(of_document, ["a:b"], reason="test")
        line_ids = await LedgerRepository(work.session).add(lines)
    worker_env.seed.execute("DELETE FROM documents")
    ledger = Ledger(
        worker_env.database,
        {
            LedgerStore.OBJECTS: ObjectDeleter(worker_env.objects),
            LedgerStore.ARTIFACTS: ArtifactDeleter(worker_env.database, worker_env.objects),
        },
    )
    assert await ledger.process(worker_env.owner.organization_id, line_ids) == 0
    with pytest.raises(ObjectNotFound):
        await worker_env.objects.size_bytes(key)
