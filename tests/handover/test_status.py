"""The hand-over of one document: its status, attempts, Paperless address and history, for those who may see it."""

from uuid import UUID, uuid4

import httpx

from muniment.handover.job_key import JobKey
from tests.documents.uploads import a_pdf
from tests.handover.handover_api import HandoverApi

PDF = a_pdf("Where is it?")
URL = "https://paperless.example.org/documents/7/"


async def status(
    office: HandoverApi, document_id: UUID, client: httpx.AsyncClient | None = None, organization_id: UUID | None = None
) -> httpx.Response:
    path = f"/api/v1/organizations/{organization_id or office.organization_id}/archive/{document_id}"
    return await (client or office.client).get(path)


async def test_the_status_of_another_applications_document_has_its_whole_history(office: HandoverApi) -> None:
    document_id = uuid4()
    job_id = (await office.hand_over(PDF, document_id=str(document_id))).json()["job_id"]
    waiting = (await status(office, document_id)).json()
    await office.patch(document_id, job_id, "pending", retry_count=1, last_error="Paperless failed with status 500")
    delayed = (await status(office, document_id)).json()
    await office.patch(document_id, job_id, "archived", retry_count=1, paperless_doc_id=7, paperless_doc_url=URL)
    archived = (await status(office, document_id)).json()

    assert (waiting["archive_status"], waiting["attempts"], waiting["paperless_doc_url"]) == ("pending", 0, None)
    assert (delayed["attempts"], delayed["last_error"]) == (1, "Paperless failed with status 500")
    assert archived.pop("submitted_at")
    assert archived.pop("archived_at")
    history = archived.pop("history")
    assert archived == {
        "document_id": str(document_id),
        "job_id": job_id,
        "document_type": "invoice",
        "archive_status": "archived",
        "attempts": 1,
        "last_error": None,
        "paperless_doc_id": 7,
        "paperless_doc_url": URL,
    }
    assert [entry["action"] for entry in history] == ["document_handed_over", "document_archive_confirmed"]
    assert history[1]["paperless_doc_url"] == URL
    assert {entry["job_id"] for entry in history} == {job_id}
    assert history[0]["at"] <= history[1]["at"]


async def test_a_failed_one_says_why_and_any_user_of_the_organization_may_ask(office: HandoverApi) -> None:
    document_id = uuid4()
    job_id = (await office.hand_over(PDF, document_id=str(document_id))).json()["job_id"]
    await office.patch(document_id, job_id, "failed", retry_count=3, last_error="Paperless rejected the file")
    async with office.api.client(office.seed.person(office.organization_id)) as client:
        failed = (await status(office, document_id, client)).json()

    assert (failed["archive_status"], failed["attempts"]) == ("failed", 3)
    assert failed["last_error"] == "Paperless rejected the file"
    assert failed["history"][-1]["action"] == "document_archive_failed"


async def a_dead_letter(office: HandoverApi, document_id: UUID) -> str:
    """Hand the PDF over, and let its job become a dead letter."""
    job_id = str((await office.hand_over(PDF, document_id=str(document_id))).json()["job_id"])
    key = JobKey.parse(job_id)
    assert key
    for name in (key.pdf, key.sidecar):
        await office.dead_letters.put_if_absent(name, await office.queue.get(name))
        await office.queue.delete(name)
    await office.patch(document_id, job_id, "failed", retry_count=3, last_error="Paperless rejected the file")
    return job_id


async def test_the_history_tells_what_became_of_a_dead_letter(office: HandoverApi) -> None:
    document_id, other = uuid4(), uuid4()
    job_id = await a_dead_letter(office, document_id)
    requeued = await office.client.post(f"/api/v1/archive/dead-letters/{job_id}/requeue")
    await a_dead_letter(office, document_id)
    await office.hand_over(PDF, document_id=str(other), document_type="contract")
    discarded = await office.client.delete(f"/api/v1/archive/dead-letters/{job_id}")

    history = (await status(office, document_id)).json()["history"]

    assert (requeued.status_code, discarded.status_code) == (200, 204)
    assert [entry["action"] for entry in history] == [
        "document_handed_over",
        "document_archive_failed",
        "dead_letter_requeued",
        "document_archive_failed",
        "dead_letter_discarded",
    ]
    assert {entry["job_id"] for entry in history} == {job_id}
    assert [entry["action"] for entry in (await status(office, other)).json()["history"]] == ["document_handed_over"]


async def test_a_failed_document_that_is_handed_over_again_has_no_attempts(office: HandoverApi) -> None:
    document_id = uuid4()
    job_id = await a_dead_letter(office, document_id)
    await office.hand_over(PDF, document_id=str(document_id))
    reopened = (await status(office, document_id)).json()
    await office.patch(document_id, job_id, "pending", retry_count=1, last_error="Paperless failed with status 500")
    await office.hand_over(PDF, document_id=str(document_id))
    repeated = (await status(office, document_id)).json()

    assert (reopened["archive_status"], reopened["attempts"], reopened["last_error"]) == ("pending", 0, None)
    assert (repeated["attempts"], repeated["last_error"]) == (1, "Paperless failed with status 500")


async def test_a_document_of_muniment_is_shown_to_those_who_see_it(office: HandoverApi) -> None:
    document_id = await office.document(PDF)
    assert (await status(office, document_id)).status_code == 404
    await office.client.post(f"{office.path(document_id)}/hand-over")
    viewer, colleague = office.seed.person(office.organization_id), office.seed.person(office.organization_id)
    office.seed.member(office.kb_id, viewer, "viewer")

    async with office.api.client(viewer) as viewing, office.api.client(colleague) as other:
        shown, hidden = await status(office, document_id, viewing), await status(office, document_id, other)

    assert (await status(office, document_id)).json()["archive_status"] == "pending"
    assert (shown.status_code, hidden.status_code) == (200, 404)
    assert hidden.json()["detail"] == "Document not found"


async def test_one_that_waits_for_its_submission_is_pending(office: HandoverApi) -> None:
    document_id = await office.document(PDF, archive_status="pending")

    answer = (await status(office, document_id)).json()

    assert (answer["archive_status"], answer["job_id"], answer["history"]) == ("pending", None, [])


async def test_after_a_purge_only_those_who_see_the_receipt_may_ask(office: HandoverApi) -> None:
    document_id = await office.document(PDF, status="archived")
    job_id = (await office.client.post(f"{office.path(document_id)}/hand-over")).json()["job_id"]
    await office.patch(document_id, job_id, "archived", paperless_doc_id=7, paperless_doc_url=URL)
    await office.empty_queue()
    purged = await office.client.delete(f"{office.path(document_id)}/purge")
    assert purged.status_code in (200, 202), purged.text

    async with office.api.client(office.seed.person(office.organization_id)) as colleague:
        hidden = await status(office, document_id, colleague)

    assert (await status(office, document_id)).json()["paperless_doc_url"] == URL
    assert hidden.status_code == 404


async def test_strangers_learn_nothing(office: HandoverApi) -> None:
    document_id = uuid4()
    await office.hand_over(PDF, document_id=str(document_id))
    stranger = office.seed.person()
    async with office.api.client(stranger) as client:
        theirs = await status(office, document_id, client, stranger.organization_id)
        ours = await status(office, document_id, client)

    assert (theirs.status_code, ours.status_code) == (404, 404)
    assert (await status(office, uuid4())).status_code == 404
