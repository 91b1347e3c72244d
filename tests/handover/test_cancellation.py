"""A document that is being handed over is not deleted during its upload, and its receipt says what remains."""

from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import httpx

from muniment.handover.job_key import JobKey
from muniment.storage.db.base import now
from tests.documents.uploads import a_pdf
from tests.handover.handover_api import HandoverApi

PDF = a_pdf("To be purged")


async def handed_over(office: HandoverApi, content: bytes = PDF, **columns: Any) -> UUID:
    document_id = await office.document(content, **columns)
    assert (await office.client.post(f"{office.path(document_id)}/hand-over")).status_code == 202
    return document_id


async def purge(office: HandoverApi, document_id: UUID, *, cancel: bool = False) -> httpx.Response:
    parameters = {"cancel_hand_over": "true"} if cancel else {}
    return await office.client.delete(f"{office.path(document_id)}/purge", params=parameters)


async def kept(office: HandoverApi, answer: httpx.Response) -> list[dict[str, Any]]:
    assert answer.status_code == 200, answer.text
    receipt = await office.client.get(f"/api/v1/receipts/{answer.json()['receipt_id']}")
    found: list[dict[str, Any]] = receipt.json()["record"]["kept"]
    return found


async def note_attempt(office: HandoverApi, key: JobKey) -> None:
    """Record an attempt, as the archiver does before it uploads."""
    held, sidecar = await office.queue.get_versioned(key.sidecar), await office.sidecar(key)
    begun = replace(sidecar, attempt_id="a", file_name="a.pdf", last_attempt_at=now())
    assert await office.queue.put_if_match(key.sidecar, begun.to_bytes(), version=held.version)


async def test_while_it_waits_a_purge_is_refused(office: HandoverApi) -> None:
    document_id = await handed_over(office)
    answer = await purge(office, document_id)

    assert answer.status_code == 409
    assert len(await office.jobs()) == 2
    assert office.rows() == ["pending"]


async def test_with_cancel_it_is_gone_from_the_queue_too(office: HandoverApi) -> None:
    document_id = await handed_over(office)
    answer = await purge(office, document_id, cancel=True)

    assert await kept(office, answer) == []
    assert await office.jobs() == []
    assert office.rows() == []
    assert "document_hand_over_cancelled" in office.actions()
    stores = office.seed.rows("SELECT store, outcome FROM deletions WHERE store = 'queue'")
    assert stores == [("queue", "erased")]


async def test_what_is_only_wished_for_is_cancelled(office: HandoverApi) -> None:
    document_id = await office.document(PDF, archive_status="pending")
    assert (await purge(office, document_id)).status_code == 409
    answer = await purge(office, document_id, cancel=True)

    assert await kept(office, answer) == []
    await office.sweep()
    assert await office.jobs() == []


async def test_once_the_archiver_has_begun_even_cancel_is_refused(office: HandoverApi) -> None:
    document_id = await handed_over(office)
    await note_attempt(office, office.key(PDF))
    answer = await purge(office, document_id, cancel=True)

    assert answer.status_code == 409
    assert "already being sent to Paperless" in answer.json()["detail"]
    assert len(await office.jobs()) == 2
    assert (await office.client.get(office.path(document_id))).status_code == 200


async def test_the_archiver_cannot_begin_with_what_is_taken_back(office: HandoverApi) -> None:
    await handed_over(office)
    key = office.key(PDF)
    seen = await office.queue.get_versioned(key.sidecar)
    await office.api.services.engine.handovers.cancel(office.organization_id, uuid4(), key.pdf)
    assert (await office.sidecar(key)).cancelled_at is None  # it waits for another document

    [document_id] = office.rows("bilko_document_id")
    await office.api.services.engine.handovers.cancel(office.organization_id, document_id, key.pdf)
    assert (await office.sidecar(key)).cancelled_at is not None
    assert await office.queue.put_if_match(key.sidecar, seen.data + b" ", version=seen.version) is None


async def test_nobody_joins_a_job_that_is_being_taken_back(office: HandoverApi) -> None:
    document_id = await handed_over(office)
    key = office.key(PDF)
    await office.api.services.engine.handovers.cancel(office.organization_id, document_id, key.pdf)

    assert (await office.hand_over(PDF, document_type="other")).status_code == 503
    assert (await purge(office, document_id, cancel=True)).status_code == 200
    assert (await office.hand_over(PDF, document_type="other")).status_code == 202
    assert (await office.sidecar(key)).cancelled_at is None


async def test_a_job_that_another_document_waits_for_stays_and_is_named(office: HandoverApi) -> None:
    first, second = await handed_over(office), await handed_over(office)
    answer = await purge(office, first, cancel=True)

    key = office.key(PDF)
    [stays] = await kept(office, answer)
    assert (stays["store"], stays["key"]) == ("queue", key.pdf)
    assert len(await office.jobs()) == 2
    assert (await office.sidecar(key)).cancelled_at is None
    assert office.rows("bilko_document_id") == [second]

    # A report of the archiver about the first, deleted document is recorded for the second one.
    await office.patch(first, key.pdf, "archived", paperless_doc_id=7)
    assert office.rows("bilko_document_id, archive_status") == [(second, "archived")]


async def test_a_copy_in_the_archive_is_kept_on_purpose_and_named(office: HandoverApi) -> None:
    document_id = await handed_over(office)
    key, url = office.key(PDF), "https://paperless/documents/7/"
    await office.patch(document_id, key.pdf, "archived", paperless_doc_id=7, paperless_doc_url=url)
    await office.empty_queue()
    answer = await purge(office, document_id)

    [stays] = await kept(office, answer)
    assert (stays["store"], stays["url"]) == ("paperless", url)
    assert office.rows("archive_status, paperless_doc_id") == [("archived", 7)]  # the copy in Paperless is still known


async def test_copies_of_earlier_revisions_are_named_too(office: HandoverApi) -> None:
    document_id = await handed_over(office)
    for number, job in ((7, office.key(PDF).pdf), (8, office.key(a_pdf("newer")).pdf)):
        url = f"https://paperless/documents/{number}/"
        await office.patch(document_id, job, "archived", paperless_doc_id=number, paperless_doc_url=url)
    answer = await purge(office, document_id)

    urls = [item["url"] for item in await kept(office, answer)]
    assert urls == ["https://paperless/documents/7/", "https://paperless/documents/8/"]


async def test_dead_letters_go_with_their_document(office: HandoverApi) -> None:
    document_id = await handed_over(office)
    key = office.key(PDF)
    for name in (key.pdf, key.sidecar):
        await office.dead_letters.put_if_absent(name, await office.queue.get(name))
    await office.empty_queue()
    await office.patch(document_id, key.pdf, "failed", retry_count=3, last_error="no")
    answer = await purge(office, document_id)

    assert await kept(office, answer) == []
    assert await office.jobs(office.dead_letters) == []
    assert office.rows() == []


async def test_a_queue_that_does_not_answer_leaves_the_purge_to_be_proven_later(office: HandoverApi) -> None:
    document_id = await handed_over(office)
    office.seed.execute("UPDATE archive_audit_log SET archive_status = 'failed'")
    office.seed.execute("UPDATE documents SET archive_status = 'failed'")
    office.queue.is_down = True
    answer = await purge(office, document_id)

    assert answer.status_code == 202
    assert answer.json()["pending"] == ["queue"]


async def test_what_another_organization_hands_over_under_its_id_is_in_nobodys_way(office: HandoverApi) -> None:
    document_id = await office.document(PDF)
    stranger = office.seed.person()
    async with office.api.client(stranger) as client:
        theirs = {"client": client, "organization_id": stranger.organization_id}
        answer = await office.hand_over(a_pdf("theirs"), document_id=str(document_id), **theirs)
    assert answer.status_code == 202

    assert await kept(office, await purge(office, document_id)) == []
    assert len(await office.jobs()) == 2
    assert office.rows("organization_id") == [stranger.organization_id]
