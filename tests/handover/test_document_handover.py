"""Documents are handed over by the policy of their knowledge base or on request."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from muniment.processing.pipeline.publishing import complete_run
from muniment.processing.runs.repository import ClaimedRun
from muniment.storage.db.advisory_locks import document_lock_name
from muniment.storage.db.base import new_id
from muniment.storage.db.principal import Service
from tests.documents.uploads import a_pdf
from tests.handover.handover_api import HandoverApi

PDF = a_pdf("A contract")


async def set_policy(office: HandoverApi, policy: str) -> None:
    answer = await office.client.patch(f"/api/v1/knowledge-bases/{office.kb_id}", json={"hand_over_policy": policy})
    assert answer.status_code == 200, answer.text
    assert answer.json()["hand_over_policy"] == policy


async def complete(office: HandoverApi, **columns: Any) -> UUID:
    """Complete a document, as the worker does at the end of a run."""
    document_id = await office.document(PDF, status="processing", **columns)
    run = ClaimedRun(new_id(), office.organization_id, document_id, epoch=1, attempt=1)
    office.seed.insert(
        "document_processing_runs",
        run_id=run.run_id,
        document_id=document_id,
        organization_id=office.organization_id,
        user_id=office.owner.id,
        epoch=1,
        revision=1,
        attempt=1,
        status="in_progress",
    )
    async with office.api.stores.database.service_work(Service(office.organization_id)) as work:
        await complete_run(work, run)
    return document_id


async def archive(office: HandoverApi, **columns: Any) -> UUID:
    document_id = await office.document(PDF, status="completed", **columns)
    answer = await office.client.post(f"{office.path(document_id)}/archive")
    assert answer.status_code == 200, answer.text
    return document_id


async def test_by_default_nothing_is_handed_over(office: HandoverApi) -> None:
    answer = await office.client.get(f"/api/v1/knowledge-bases/{office.kb_id}")
    assert answer.json()["hand_over_policy"] == "never"
    documents = [await complete(office), await archive(office)]
    await office.sweep()

    assert await office.jobs() == []
    assert [office.document_status(one) for one in documents] == [(None, None, None)] * 2


@pytest.mark.parametrize(
    ("policy", "move", "other"), [("on_completed", complete, archive), ("on_archived", archive, complete)]
)
async def test_the_policy_names_the_move_that_hands_over(
    office: HandoverApi, policy: str, move: Any, other: Any
) -> None:
    await set_policy(office, policy)
    document_id = await move(office)
    left_alone = await other(office)
    assert office.document_status(document_id) == ("pending", None, None)  # recorded with the move, submitted later
    assert await office.jobs() == []

    await office.sweep()

    key = office.key(PDF)
    assert office.document_status(document_id) == ("pending", key.pdf, None)
    assert office.document_status(left_alone) == (None, None, None)
    assert await office.queue.get(key.pdf) == PDF
    assert (await office.sidecar(key)).bilko_document_id == document_id
    [line] = [line for line in office.seed.audit_lines() if line["action"] == "document_handed_over"]
    assert (line["actor"], line["knowledge_base_id"]) == ("system", office.kb_id)


async def test_the_change_of_the_policy_is_in_the_trail_and_only_managers_may(office: HandoverApi) -> None:
    await set_policy(office, "on_archived")
    [line] = [line for line in office.seed.audit_lines() if line["action"] == "knowledge_base_changed"]
    assert line["payload"]["after"] == {"hand_over_policy": "on_archived"}

    editor = office.seed.person(office.organization_id)
    office.seed.member(office.kb_id, editor, "editor")
    async with office.api.client(editor) as client:
        refused = await client.patch(f"/api/v1/knowledge-bases/{office.kb_id}", json={"hand_over_policy": "never"})
    assert refused.status_code == 403
    unknown = await office.client.patch(f"/api/v1/knowledge-bases/{office.kb_id}", json={"hand_over_policy": "now"})
    assert unknown.status_code == 422


async def test_what_is_no_pdf_is_skipped_with_a_line_in_the_trail(office: HandoverApi) -> None:
    await set_policy(office, "on_archived")
    document_id = await archive(office, media_type="text/plain")
    await office.sweep()

    assert office.document_status(document_id) == (None, None, None)
    assert await office.jobs() == []
    [line] = [line for line in office.seed.audit_lines() if line["action"] == "document_hand_over_skipped"]
    assert line["payload"]["media_type"] == "text/plain"


async def test_a_failing_queue_does_not_fail_the_move_and_the_sweep_repeats_it(office: HandoverApi) -> None:
    await set_policy(office, "on_archived")
    office.queue.is_down = True
    document_id = await archive(office)
    await office.sweep()

    assert office.document_status(document_id)[0] == "failed"
    assert office.rows("archive_status, last_error") == [("failed", "The queue does not answer")]
    await office.sweep()  # not due yet
    assert office.rows("attempts") == [1]

    office.queue.is_down = False
    await office.sweep(later=timedelta(minutes=2))
    assert office.document_status(document_id)[0] == "pending"
    assert len(await office.jobs()) == 2
    assert office.rows("archive_status, last_error") == [("pending", None)]


async def test_one_that_is_archived_already_is_not_handed_over_by_the_policy_again(office: HandoverApi) -> None:
    await set_policy(office, "on_archived")
    document_id = await archive(office, archive_status="archived", archive_job_id="somewhere")
    await office.sweep()

    assert office.document_status(document_id)[0] == "archived"
    assert await office.jobs() == []


async def test_a_knowledge_base_that_is_leaving_hands_nothing_over(office: HandoverApi) -> None:
    await set_policy(office, "on_archived")
    office.seed.execute("UPDATE knowledge_bases SET leaving_since = now()")
    document_id = await archive(office)

    assert office.document_status(document_id) == (None, None, None)


@pytest.mark.parametrize("status", ["completed", "archived"])
async def test_its_owner_hands_a_document_over(office: HandoverApi, status: str) -> None:
    document_id = await office.document(PDF, status=status, document_type="care_plan")
    answer = await office.client.post(f"{office.path(document_id)}/hand-over")

    key = office.key(PDF, "care-plan")
    assert answer.status_code == 202
    assert answer.json() == {"job_id": key.pdf, "archive_status": "pending"}
    assert await office.jobs() == [key.sidecar, key.pdf]
    [line] = office.seed.audit_lines()
    assert (line["action"], line["actor"]) == ("document_handed_over", str(office.owner.id))


@pytest.mark.parametrize("status", ["pending", "processing", "failed"])
async def test_what_is_not_read_yet_cannot_be_handed_over(office: HandoverApi, status: str) -> None:
    document_id = await office.document(PDF, status=status)
    answer = await office.client.post(f"{office.path(document_id)}/hand-over")

    assert answer.status_code == 400
    assert answer.json() == {"detail": "Only completed or archived documents can be sent to Paperless"}


async def test_a_document_that_is_no_pdf_cannot_be_handed_over(office: HandoverApi) -> None:
    document_id = await office.document(b"text", media_type="text/plain")

    assert (await office.client.post(f"{office.path(document_id)}/hand-over")).status_code == 415


async def test_only_owner_and_admin_may_hand_over(office: HandoverApi) -> None:
    document_id = await office.document(PDF)
    for role in ("editor", "viewer"):
        person = office.seed.person(office.organization_id)
        office.seed.member(office.kb_id, person, role)
        async with office.api.client(person) as client:
            assert (await client.post(f"{office.path(document_id)}/hand-over")).status_code == 403
    admin = office.seed.person(office.organization_id, is_admin=True)
    async with office.api.client(admin) as client:
        assert (await client.post(f"{office.path(document_id)}/hand-over")).status_code == 202


async def test_a_failing_queue_is_reported_to_the_caller_and_retried_automatically(office: HandoverApi) -> None:
    document_id = await office.document(PDF)
    office.queue.is_down = True
    answer = await office.client.post(f"{office.path(document_id)}/hand-over")
    assert answer.status_code == 503
    assert answer.json()["code"] == "ARCHIVE_QUEUE_FAILURE"
    assert office.document_status(document_id)[0] == "failed"

    office.queue.is_down = False
    await office.sweep(later=timedelta(minutes=2))
    assert office.document_status(document_id)[0] == "pending"


async def test_an_original_that_is_damaged_never_becomes_a_job(office: HandoverApi) -> None:
    document_id = await office.document(PDF)
    await office.api.stores.objects.put(f"{office.kb_id}/{document_id}/1/original", b"%PDF-damaged")
    with capture_logs() as lines:
        answer = await office.client.post(f"{office.path(document_id)}/hand-over")

    assert answer.status_code == 500  # the caller did nothing wrong, and alerts on 5xx must notice it
    assert answer.json()["detail"].startswith("The stored file is damaged")
    assert [line["document_id"] for line in lines if line["event"] == "documents.original_damaged"] == [
        str(document_id)
    ]
    assert await office.jobs() == []
    assert office.rows("archive_status, next_attempt_at") == [("failed", None)]


async def test_a_document_that_is_being_removed_is_not_handed_over(office: HandoverApi) -> None:
    document_id = await office.document(PDF, archive_status="pending")
    async with office.api.stores.locks.try_acquire(document_lock_name(document_id)) as held:
        assert held
        await office.sweep()

    assert await office.jobs() == []
    await office.sweep()
    assert len(await office.jobs()) == 2
