"""Imports that end in a document of another owner, or in other bytes: one upload, one dead letter with its reason."""

from collections.abc import Callable

import httpx
import pytest

from muniment.handover.job_key import JobKey
from tests.documents.uploads import a_pdf
from tests.handover.archiver.environment import ArchiverEnvironment, open_archiver
from tests.handover.handover_api import ARCHIVER as ARCHIVER_HEADERS
from tests.support.fake_paperless.outcomes import Outcome, altered, split
from tests.support.fake_paperless.raw_client import RawClient
from tests.support.fake_paperless.users import ADMIN, ARCHIVER, COLLEAGUE


async def dead_letter_reason(archiver_env: ArchiverEnvironment, key: JobKey) -> str:
    reason = (await archiver_env.sidecar(key, archiver_env.office.dead_letters)).last_error
    assert reason is not None
    return reason


async def requeue(archiver_env: ArchiverEnvironment, key: JobKey) -> None:
    async with open_archiver(archiver_env.archiver()) as archiver:
        await archiver.api.requeue(key)


async def hidden_document(archiver_env: ArchiverEnvironment) -> tuple[JobKey, int]:
    """A job whose document belongs to another user since its import, and the id of the document."""
    archiver_env.server.set(workflow_owner=COLLEAGUE.id)
    key = await archiver_env.put()
    report = await archiver_env.run()
    assert report.actions == {"dead_letter": 1}
    [document] = archiver_env.documents()
    return key, document.id


def give_back(archiver_env: ArchiverEnvironment, document_id: int) -> None:
    with httpx.Client() as wire:
        admin = RawClient(wire, archiver_env.server.url, ADMIN)
        admin("PATCH", f"/api/documents/{document_id}/", json={"owner": ARCHIVER.id}).raise_for_status()


async def test_a_document_that_a_workflow_gave_to_another_owner_is_a_dead_letter_at_once(
    archiver_env: ArchiverEnvironment,
) -> None:
    key, document_id = await hidden_document(archiver_env)

    reason = await dead_letter_reason(archiver_env, key)
    assert f"document {document_id}," in reason
    assert "permission" in reason
    assert len(archiver_env.server.requests("upload")) == 1
    assert archiver_env.office.rows("archive_status, retry_count") == [("failed", 1)]


async def test_requeueing_it_uploads_nothing_while_it_is_hidden(archiver_env: ArchiverEnvironment) -> None:
    key, _ = await hidden_document(archiver_env)
    reason = await dead_letter_reason(archiver_env, key)
    await requeue(archiver_env, key)

    report = await archiver_env.run()

    assert report.actions == {"dead_letter": 1}
    assert await dead_letter_reason(archiver_env, key) == reason
    assert len(archiver_env.server.requests("upload")) == 1


async def test_requeueing_it_archives_it_once_the_token_has_access(archiver_env: ArchiverEnvironment) -> None:
    key, document_id = await hidden_document(archiver_env)
    give_back(archiver_env, document_id)
    await requeue(archiver_env, key)

    report = await archiver_env.run()

    assert report.actions == {"archived": 1}
    assert [document.id for document in archiver_env.documents()] == [document_id]
    assert archiver_env.rows()[key.pdf] == "archived"
    assert len(archiver_env.server.requests("upload")) == 1


async def test_requeueing_all_that_failed_uploads_nothing_while_it_is_hidden(
    archiver_env_v3: ArchiverEnvironment,
) -> None:
    office, content = archiver_env_v3.office, a_pdf("Held by Muniment")
    document_id = await office.document(content)
    await office.client.post(f"{office.path(document_id)}/hand-over")
    archiver_env_v3.server.set(workflow_owner=COLLEAGUE.id)
    await archiver_env_v3.run()
    await office.api.anonymous.post("/internal/v1/failed/requeue", headers=ARCHIVER_HEADERS)
    await office.sweep()
    assert await archiver_env_v3.waiting(office.dead_letters) == []

    report = await archiver_env_v3.run()

    assert report.actions == {"dead_letter": 1}
    assert len(archiver_env_v3.server.requests("upload")) == 1


@pytest.mark.parametrize("again", ["same pass", "later"])
async def test_the_same_file_of_another_type_is_not_uploaded_either(
    archiver_env_v3: ArchiverEnvironment, again: str
) -> None:
    archiver_env_v3.server.set(workflow_owner=COLLEAGUE.id)
    for document_type in ("invoice", "contract"):
        await archiver_env_v3.put(document_type=document_type)
        if again == "later":
            await archiver_env_v3.run()
    await archiver_env_v3.run()

    assert len(await archiver_env_v3.waiting(archiver_env_v3.office.dead_letters)) == 4
    assert len(archiver_env_v3.server.requests("upload")) == 1


async def test_after_discarding_it_a_new_hand_over_is_uploaded(archiver_env_v3: ArchiverEnvironment) -> None:
    key, _ = await hidden_document(archiver_env_v3)
    async with open_archiver(archiver_env_v3.archiver()) as archiver:
        await archiver.api.discard(key)
    archiver_env_v3.server.set(workflow_owner=None)
    await archiver_env_v3.put()

    report = await archiver_env_v3.run()

    assert report.actions == {"archived": 1}


async def test_a_document_that_was_trashed_before_it_was_read_back_is_restored(
    archiver_env: ArchiverEnvironment,
) -> None:
    await archiver_env.put()
    archiver_env.server.set(worker="stopped")
    await archiver_env.run()
    archiver_env.server.set(worker="running")
    archiver_env.server.objects("tags")
    [document] = archiver_env.documents()
    async with open_archiver(archiver_env.archiver()) as archiver:
        await archiver.paperless.move_to_trash(document.id)

    report = await archiver_env.run()

    assert report.actions == {"archived": 1}
    assert [found.id for found in archiver_env.documents()] == [document.id]


@pytest.mark.parametrize(
    "outcome",
    [lambda: split(2), lambda: split(1), lambda: split(2, delay=3600), altered],
    ids=["two parts", "one part", "parts that are not there yet", "changed"],
)
async def test_a_file_that_paperless_stores_with_other_bytes_is_a_dead_letter_after_one_upload(
    archiver_env: ArchiverEnvironment, outcome: Callable[[], Outcome]
) -> None:
    key = await archiver_env.put()
    archiver_env.server.next_uploads(outcome())

    reports = [await archiver_env.run() for _ in range(3)]

    assert [report.actions for report in reports] == [{"dead_letter": 1}, {}, {}]
    assert [report.warnings for report in reports] == [[], [], []]
    assert archiver_env.notifier.titles == ["P1 Muniment archiver: dead-letters"]
    assert "did not store the file as it is" in await dead_letter_reason(archiver_env, key)
    assert len(archiver_env.server.requests("upload")) == 1
    assert archiver_env.office.rows("archive_status, retry_count") == [("failed", 1)]


async def test_requeueing_a_split_file_names_the_parts_and_uploads_it_once_they_are_gone(
    archiver_env_v3: ArchiverEnvironment,
) -> None:
    key = await archiver_env_v3.put()
    archiver_env_v3.server.next_uploads(split(2))
    await archiver_env_v3.run()
    parts = [document.id for document in archiver_env_v3.documents()]
    await requeue(archiver_env_v3, key)

    assert (await archiver_env_v3.run()).actions == {"dead_letter": 1}
    reason = await dead_letter_reason(archiver_env_v3, key)
    assert all(str(part) in reason for part in parts)
    assert len(archiver_env_v3.server.requests("upload")) == 1

    async with open_archiver(archiver_env_v3.archiver()) as archiver:
        for part in parts:
            await archiver.paperless.move_to_trash(part)
    await requeue(archiver_env_v3, key)
    report = await archiver_env_v3.run()

    assert report.actions == {"archived": 1}
    assert [document.sha256 for document in archiver_env_v3.documents()] == [key.sha256]
