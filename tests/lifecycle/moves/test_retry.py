"""Retry and reprocess: `POST …/{doc_id}/retry` (docs/contracts.md#retry)."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import httpx
import pytest

from muniment.artifacts.keys import ReadingVariant, reading_variant
from muniment.processing.readers.contract import ExtractedPage, ExtractionMethod, Paragraph
from muniment.processing.readers.errors import Unreadable, UnreadableCode
from muniment.storage.tasks.port import RunRequest
from muniment.telemetry.metrics import REGISTRY
from tests.processing.worker_fixture import PAGES, WorkerFixture
from tests.support.live_api import RunningApi

NEWER = reading_variant({"of": "a newer reader"})
ENCRYPTED = Unreadable(UnreadableCode.ENCRYPTED, "The file is protected by a password.")


@pytest.fixture
async def client(api: RunningApi, worker_env: WorkerFixture) -> AsyncIterator[httpx.AsyncClient]:
    async with api.client(worker_env.owner) as client:
        yield client


async def retry(client: httpx.AsyncClient, worker_env: WorkerFixture, document_id: UUID, **wish: Any) -> httpx.Response:
    return await client.post(f"/api/v1/knowledge-bases/{worker_env.kb_id}/documents/{document_id}/retry", json=wish)


async def a_failed(worker_env: WorkerFixture, **columns: Any) -> UUID:
    worker_env.reader.error = ENCRYPTED
    document_id = await worker_env.document(**columns)
    await worker_env.process(document_id)
    worker_env.reader.error = None
    return document_id


async def a_completed(worker_env: WorkerFixture) -> UUID:
    document_id = await worker_env.document()
    await worker_env.process(document_id)
    return document_id


def pages_shown(worker_env: WorkerFixture, document_id: UUID) -> list[Any]:
    return worker_env.seed.rows(
        """SELECT a.algorithm_version, a.params_fingerprint, count(*) FROM document_pages p
             JOIN artifact_pages a ON a.id = p.artifact_page_id WHERE document_id = %s GROUP BY 1, 2""",
        document_id,
    )


async def test_a_failed_document_is_pending_again_and_then_completed(
    client: httpx.AsyncClient, worker_env: WorkerFixture
) -> None:
    document_id = await a_failed(worker_env)
    answer = await retry(client, worker_env, document_id)
    assert answer.status_code == 200
    assert (answer.json()["status"], answer.json()["last_error"]) == ("pending", None)
    await worker_env.process(document_id)
    assert worker_env.status(document_id) == "completed"
    runs = worker_env.seed.rows("SELECT epoch, purpose, status FROM document_processing_runs ORDER BY epoch")
    assert runs == [(1, "first", "failed"), (2, "first", "completed")]
    assert worker_env.seed.audit_lines()[-1]["action"] == "document_retried"


async def test_a_failed_document_whose_name_was_taken_stays_failed(
    client: httpx.AsyncClient, worker_env: WorkerFixture
) -> None:
    document_id = await a_failed(worker_env, name="report.pdf")
    namesake = worker_env.seed.document(worker_env.kb_id, worker_env.owner, name="report.pdf")
    answer = await retry(client, worker_env, document_id)
    assert answer.status_code == 409
    assert answer.json()["existing_document_id"] == str(namesake)
    assert worker_env.status(document_id) == "failed"


@pytest.mark.parametrize("status", ["pending", "processing", "archived"])
async def test_others_cannot_be_retried(client: httpx.AsyncClient, worker_env: WorkerFixture, status: str) -> None:
    document_id = worker_env.seed.document(worker_env.kb_id, worker_env.owner, status=status)
    answer = await retry(client, worker_env, document_id)
    assert answer.status_code == 400
    assert answer.json() == {"detail": "Only failed or completed documents can be retried"}


async def test_an_editor_may_and_a_viewer_may_not_and_for_a_stranger_it_does_not_exist(
    api: RunningApi, worker_env: WorkerFixture
) -> None:
    document_id = await a_completed(worker_env)
    details = {403: "Permission denied", 404: "Document not found"}
    for role, expected in (("editor", 200), ("viewer", 403), (None, 404)):
        person = worker_env.seed.person(worker_env.owner.organization_id)
        if role:
            worker_env.seed.member(worker_env.kb_id, person, role)
        async with api.client(person) as client:
            answer = await retry(client, worker_env, document_id)
            assert (answer.status_code, answer.json().get("detail")) == (expected, details.get(expected))


async def test_a_reread_shows_the_old_result_until_the_new_one_is_complete(
    client: httpx.AsyncClient, worker_env: WorkerFixture
) -> None:
    document_id = await a_completed(worker_env)
    old = pages_shown(worker_env, document_id)
    answer = await retry(client, worker_env, document_id)
    assert (answer.status_code, answer.json()["status"]) == (200, "completed")
    assert pages_shown(worker_env, document_id) == old
    worker_env.reading = NEWER
    worker_env.reader.pages = PAGES[:1]
    await worker_env.process(document_id)
    assert worker_env.status(document_id) == "completed"
    assert pages_shown(worker_env, document_id) == [(1, NEWER.params_fingerprint, 1)]
    assert worker_env.seed.one("SELECT total_pages FROM documents") == 1
    assert worker_env.seed.one("SELECT count(*) FROM artifacts_full_text") == 2


async def test_a_failing_reread_changes_only_its_run(client: httpx.AsyncClient, worker_env: WorkerFixture) -> None:
    document_id = await a_completed(worker_env)
    question = "SELECT status, processing_status, last_error, processing_errors, total_pages FROM documents"
    before, shown = worker_env.seed.rows(question), pages_shown(worker_env, document_id)
    await retry(client, worker_env, document_id)
    worker_env.reading, worker_env.reader.error = NEWER, ENCRYPTED
    await worker_env.process(document_id)
    assert (worker_env.seed.rows(question), pages_shown(worker_env, document_id)) == (before, shown)
    runs = worker_env.seed.rows("SELECT purpose, status, error->>'code' FROM document_processing_runs ORDER BY epoch")
    assert runs == [("first", "completed", None), ("reread", "failed", "encrypted")]


async def test_a_second_reread_takes_the_place_of_the_first(
    client: httpx.AsyncClient, worker_env: WorkerFixture
) -> None:
    document_id = await a_completed(worker_env)
    await retry(client, worker_env, document_id)
    first = worker_env.job(document_id)
    await retry(client, worker_env, document_id)
    await worker_env.worker()(first)  # a worker that has already claimed it writes nothing
    assert worker_env.seed.rows("SELECT status, error->>'code' FROM document_processing_runs WHERE epoch = 2") == [
        ("failed", "superseded")
    ]
    await worker_env.process(document_id)
    assert worker_env.seed.one("SELECT status FROM document_processing_runs WHERE epoch = 3") == "completed"


async def test_annotations_survive_a_reread_and_follow_their_text(
    client: httpx.AsyncClient, worker_env: WorkerFixture
) -> None:
    document_id = await a_completed(worker_env)
    note = {"document_id": document_id, "organization_id": worker_env.owner.organization_id, "annotations": {"a": 1}}
    for index, sha in worker_env.seed.rows(
        "SELECT paragraph_index, paragraph_text_sha256 FROM artifact_paragraphs WHERE page_number = 1"
    ):
        place = {"page_number": 1, "paragraph_index": index, "artifact_paragraph_id": document_id}
        worker_env.seed.insert("document_paragraphs", **note, **place, paragraph_text_sha256=sha)
    worker_env.seed.execute("UPDATE document_pages SET annotations = '{\"seen\": true}'")
    worker_env.seed.execute("UPDATE document_diagrams SET annotations = '{\"seen\": true}' WHERE page_number = 2")
    await retry(client, worker_env, document_id)
    worker_env.reading = NEWER
    text = "A new beginning.\n\nAbout invoices."
    moved = ExtractedPage(1, text, ExtractionMethod.TEXT, paragraphs=(Paragraph(0, 16), Paragraph(18, 33)))
    worker_env.reader.pages = (moved,)
    await worker_env.process(document_id)
    question = """SELECT paragraph_index, annotations, stale_at IS NULL, artifact_paragraph_id IS NULL
                    FROM document_paragraphs ORDER BY 1"""
    assert worker_env.seed.rows(question) == [(-1, {"a": 1}, False, True), (1, {"a": 1}, True, False)]
    pages = "SELECT page_number, annotations, stale_at IS NULL FROM document_pages ORDER BY 1"
    assert worker_env.seed.rows(pages) == [(1, {"seen": True}, True), (2, {"seen": True}, False)]
    diagrams = "SELECT page_number, annotations, stale_at IS NULL FROM document_diagrams ORDER BY 1"
    assert worker_env.seed.rows(diagrams) == [(2, {"seen": True}, False)]


async def test_without_force_a_document_that_shows_the_wanted_result_is_left_alone(worker_env: WorkerFixture) -> None:
    document_id = await a_completed(worker_env)
    worker_env.seed.execute("DELETE FROM document_pages")
    worker_env.seed.execute("UPDATE documents SET epoch = 2")
    run = await worker_env.enqueue(document_id, RunRequest(purpose="reread"), epoch=2)
    await worker_env.worker()(worker_env.job(document_id))
    assert worker_env.seed.one("SELECT count(*) FROM document_pages") == 0
    assert worker_env.seed.one("SELECT status FROM document_processing_runs WHERE run_id = %s", run) == "completed"


async def test_force_hydrates_anew(client: httpx.AsyncClient, worker_env: WorkerFixture) -> None:
    document_id = await a_completed(worker_env)
    worker_env.seed.execute("DELETE FROM document_pages")
    await retry(client, worker_env, document_id, force=True)
    await worker_env.process(document_id)
    assert worker_env.seed.one("SELECT count(*) FROM document_pages") == 2
    assert worker_env.reader.opened == 1


async def test_a_version_that_is_neither_installed_nor_stored_is_refused(
    client: httpx.AsyncClient, worker_env: WorkerFixture
) -> None:
    document_id = await a_completed(worker_env)
    answer = await retry(client, worker_env, document_id, algorithm_version=7)
    assert answer.status_code == 422
    assert worker_env.seed.one("SELECT count(*) FROM document_processing_runs") == 1


async def test_a_stored_older_version_can_be_shown_again(client: httpx.AsyncClient, worker_env: WorkerFixture) -> None:
    worker_env.reading = ReadingVariant(7, "old")
    document_id = await a_completed(worker_env)
    worker_env.reading = NEWER
    await retry(client, worker_env, document_id)
    await worker_env.process(document_id)
    assert pages_shown(worker_env, document_id) == [(1, NEWER.params_fingerprint, 2)]
    assert (await retry(client, worker_env, document_id, algorithm_version=7)).status_code == 200
    await worker_env.process(document_id)
    assert pages_shown(worker_env, document_id) == [(7, "old", 2)]
    assert worker_env.reader.opened == 2


@pytest.mark.parametrize(
    "wish", [{"force": "perhaps"}, {"algorithm_version": 0}, {"algorithm_version": 2**40}, {"x": 1}]
)
async def test_a_wish_that_cannot_be_understood_is_refused(
    client: httpx.AsyncClient, worker_env: WorkerFixture, wish: dict[str, Any]
) -> None:
    assert (await retry(client, worker_env, await a_completed(worker_env), **wish)).status_code == 422


async def test_a_retry_is_counted_and_a_refused_one_is_not(
    client: httpx.AsyncClient, worker_env: WorkerFixture
) -> None:
    document_id = await a_failed(worker_env)
    labels = {"kb_id": str(worker_env.kb_id), "user_id": str(worker_env.owner.id)}

    assert (await retry(client, worker_env, document_id)).status_code == 200
    assert (await retry(client, worker_env, document_id)).status_code == 400

    assert REGISTRY.get_sample_value("muniment_documents_retried_total", labels) == 1
