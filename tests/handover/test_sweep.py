"""The sweep resubmits what is pending and finds jobs that are missing from the queue."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID, uuid4

from muniment.handover.queue import cancel_job
from muniment.storage.db.base import now
from tests.documents.uploads import a_pdf
from tests.handover.handover_api import ARCHIVER, HandoverApi

PDF = a_pdf("A care plan")
HOURS = timedelta(hours=2)


async def handed_over(office: HandoverApi) -> UUID:
    document_id = await office.document(PDF)
    assert (await office.client.post(f"{office.path(document_id)}/hand-over")).status_code == 202
    return document_id


async def test_what_waits_in_the_queue_is_left_alone(office: HandoverApi) -> None:
    await handed_over(office)
    before = await office.sidecar(office.key(PDF))
    await office.sweep(later=HOURS)

    assert office.rows() == ["pending"]
    assert await office.sidecar(office.key(PDF)) == before
    assert office.rows("next_attempt_at > now()") == [True]


async def test_an_earlier_proof_of_the_same_bytes_does_not_archive_a_missing_job(office: HandoverApi) -> None:
    # The copy may be in Paperless's trash by now: only the archiver can tell.
    document_id = await handed_over(office)
    await office.patch(uuid4(), office.key(PDF, "invoice").pdf, "archived", paperless_doc_id=7)
    await office.empty_queue()

    await office.sweep(later=HOURS)

    key = office.key(PDF)
    assert office.document_status(document_id)[0] == "pending"
    assert await office.jobs() == [key.sidecar, key.pdf]


async def test_without_an_original_the_archiver_checks_whether_paperless_has_the_bytes(office: HandoverApi) -> None:
    await office.hand_over(PDF, document_type="other")
    await office.patch(uuid4(), office.key(PDF, "invoice").pdf, "archived", paperless_doc_id=7)
    await office.empty_queue()

    await office.sweep(later=HOURS)

    assert await office.jobs() == [office.key(PDF).sidecar]
    assert set(office.rows("document_type, archive_status")) == {("other", "pending"), ("invoice", "archived")}


async def test_a_pdf_whose_sidecar_was_never_written_becomes_a_job(office: HandoverApi) -> None:
    document_id = uuid4()
    await office.hand_over(PDF, document_id=str(document_id), metadata='{"invoiceNumber": "7"}')
    key = office.key(PDF, "invoice")
    await office.queue.delete(key.sidecar)

    await office.sweep(later=HOURS)

    sidecar = await office.sidecar(key)
    assert (sidecar.bilko_document_id, sidecar.invoice_number) == (document_id, "7")
    assert office.rows() == ["pending"]


async def test_the_proof_of_another_type_closes_nothing(office: HandoverApi) -> None:
    first = (await office.hand_over(PDF, document_type="invoice")).json()["job_id"]
    await office.patch(uuid4(), first, "archived", paperless_doc_id=7, paperless_doc_url="https://p/documents/7/")
    document_id = await handed_over(office)
    await office.empty_queue()

    await office.sweep(later=HOURS)

    assert office.document_status(document_id)[0] == "pending"
    assert await office.jobs() == [office.key(PDF).sidecar, office.key(PDF).pdf]


async def test_another_organizations_proof_closes_nothing(office: HandoverApi) -> None:
    stranger = office.seed.person()
    async with office.api.client(stranger) as client:
        theirs = await office.hand_over(PDF, client=client, organization_id=stranger.organization_id)
    office.seed.execute(
        "UPDATE archive_audit_log SET archive_status = 'archived', paperless_doc_id = 7 WHERE r2_object_key = %s",
        theirs.json()["job_id"],
    )
    await handed_over(office)
    await office.empty_queue()

    await office.sweep(later=HOURS)

    assert office.rows("archive_status", f"organization_id = '{office.organization_id}'") == ["pending"]
    assert len(await office.jobs()) == 2


async def test_a_row_without_queue_object_is_handed_over_again_from_the_original(office: HandoverApi) -> None:
    document_id = await handed_over(office)
    await office.empty_queue()

    await office.sweep(later=HOURS)

    assert await office.queue.get(office.key(PDF).pdf) == PDF
    assert office.document_status(document_id)[0] == "pending"


async def test_another_applications_bytes_come_back_from_a_document_that_has_them(office: HandoverApi) -> None:
    other_id = uuid4()
    await office.hand_over(PDF, document_id=str(other_id), metadata='{"invoiceNumber": "7"}')
    await office.document(PDF)
    await office.empty_queue()

    await office.sweep(later=HOURS)

    sidecar = await office.sidecar(office.key(PDF, "invoice"))
    assert (sidecar.bilko_document_id, sidecar.invoice_number) == (other_id, "7")


async def test_another_applications_failed_hand_over_is_pending_once_it_is_in_the_queue_again(
    office: HandoverApi,
) -> None:
    await office.hand_over(PDF, document_id=str(uuid4()))
    key = office.key(PDF, "invoice")
    await office.patch(uuid4(), key.pdf, "failed", retry_count=3, last_error="Paperless failed")
    await office.empty_queue()
    await office.document(PDF)
    await office.api.anonymous.post("/internal/v1/failed/requeue", headers=ARCHIVER)

    await office.sweep()

    assert await office.jobs() == [key.sidecar, key.pdf]
    assert set(office.rows("archive_status, last_error")) == {("pending", None)}


async def test_what_nobody_can_hand_over_again_is_said_to_be_lost(office: HandoverApi) -> None:
    await office.hand_over(PDF)
    await office.empty_queue()

    await office.sweep(later=HOURS)

    [(status, error, due)] = office.rows("archive_status, last_error, next_attempt_at")
    assert (status, due) == ("failed", None)
    assert "Send the document again" in error


async def test_a_sidecar_alone_is_left_to_the_archiver(office: HandoverApi) -> None:
    await office.hand_over(PDF)
    key = office.key(PDF, "invoice")
    await office.queue.delete(key.pdf)

    await office.sweep(later=HOURS)

    assert await office.jobs() == [key.sidecar]
    assert office.rows() == ["pending"]


async def test_what_lies_among_the_dead_letters_has_failed(office: HandoverApi) -> None:
    document_id = await handed_over(office)
    key = office.key(PDF)
    for name in (key.pdf, key.sidecar):  # the archiver crashed before it could report
        await office.dead_letters.put_if_absent(name, await office.queue.get(name))
        await office.queue.delete(name)

    await office.sweep(later=HOURS)

    assert office.document_status(document_id)[0] == "failed"
    assert await office.jobs() == []
    await office.sweep(later=HOURS)
    assert office.rows() == ["failed"]


async def test_a_job_that_was_taken_back_by_nobody_is_taken_up_again(office: HandoverApi) -> None:
    await handed_over(office)
    key = office.key(PDF)
    await cancel_job(office.queue, await office.sidecar(key), now())
    await office.sweep(later=HOURS)
    assert (await office.sidecar(key)).cancelled_at is not None  # another transaction may be about to commit

    held = await office.queue.get_versioned(key.sidecar)
    long_ago = replace(await office.sidecar(key), cancelled_at=now() - HOURS)
    await office.queue.put_if_match(key.sidecar, long_ago.to_bytes(), version=held.version)
    await office.sweep(later=HOURS)
    assert (await office.sidecar(key)).cancelled_at is None


async def test_a_queue_that_does_not_answer_stops_nobody_else_and_is_asked_again(office: HandoverApi) -> None:
    await handed_over(office)
    await office.empty_queue()
    office.queue.is_down = True
    await office.sweep(later=HOURS)
    assert office.rows() == ["pending"]

    office.queue.is_down = False
    await office.sweep(later=HOURS)
    assert len(await office.jobs()) == 2


async def test_columns_that_a_revert_brought_back_follow_their_row(office: HandoverApi) -> None:
    document_id = await handed_over(office)
    job_id = office.key(PDF).pdf
    office.seed.execute("UPDATE documents SET archive_status = NULL, archive_job_id = NULL")  # replaced
    await office.patch(document_id, job_id, "archived", paperless_doc_id=7, paperless_doc_url="https://p/documents/7/")
    office.seed.execute("UPDATE documents SET archive_status = 'pending', archive_job_id = %s", job_id)  # reverted

    await office.sweep()

    assert office.document_status(document_id) == ("archived", job_id, "https://p/documents/7/")
