"""Another application submits a PDF in one call (docs/contracts.md#handover-submission)."""

import asyncio
import hashlib
import json
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from muniment.errors import TooLarge
from muniment.handover.content import SpooledUpload
from tests.documents.uploads import a_pdf
from tests.handover.handover_api import HandoverApi

PDF = a_pdf("An invoice")
SHA256 = hashlib.sha256(PDF).hexdigest()
FAILURE = {"error": "Document archived pending. Retry in 5 minutes.", "code": "ARCHIVE_QUEUE_FAILURE"}


async def test_a_pdf_is_taken_and_waits_in_the_queue(office: HandoverApi) -> None:
    document_id = uuid4()
    metadata = json.dumps({"invoiceNumber": "2024-001", "theirs": 7})
    answer = await office.hand_over(PDF, document_type="care_plan", document_id=str(document_id), metadata=metadata)

    key = office.key(PDF, "care-plan")
    assert answer.status_code == 202
    assert answer.json() == {"job_id": key.pdf, "archive_status": "pending"}
    assert await office.jobs() == [key.sidecar, key.pdf]
    assert await office.queue.get(key.pdf) == PDF
    written = json.loads(await office.queue.get(key.sidecar))
    at = written.pop("timestamp")
    assert at.endswith("Z")
    assert written == {
        "schemaVersion": "1",
        "r2Uuid": SHA256,
        "organizationId": str(office.organization_id),
        "organizationName": "Firma AS",
        "documentType": "care-plan",
        "bilkoDocumentId": str(document_id),
        "invoiceNumber": "2024-001",
        "contractId": None,
        "sha256": SHA256,
        "retryCount": 0,
        "lastAttemptAt": None,
        "lastError": None,
        "documentName": "any name.pdf",
    }
    columns = "archive_status, document_type, r2_object_key, sha256, bilko_document_id, retry_count, metadata, priority"
    assert office.rows(columns) == [
        ("pending", "care_plan", key.pdf, SHA256, document_id, 0, {"invoiceNumber": "2024-001", "theirs": 7}, "NORMAL")
    ]


async def test_the_trail_says_who_handed_over_what(office: HandoverApi) -> None:
    member = office.seed.person(office.organization_id)
    document_id = uuid4()
    async with office.api.client(member) as client:
        await office.hand_over(PDF, client=client, document_id=str(document_id), priority="HIGH")

    [line] = office.seed.audit_lines()
    assert (line["action"], line["actor"]) == ("document_handed_over", str(member.id))
    assert (line["organization_id"], line["document_id"]) == (office.organization_id, document_id)
    assert line["payload"]["job_id"] == office.key(PDF, "invoice").pdf
    assert office.rows("priority") == ["HIGH"]


async def test_the_same_again_changes_nothing_that_the_archiver_noted(office: HandoverApi) -> None:
    document_id = str(uuid4())
    first = await office.hand_over(PDF, document_id=document_id)
    key = office.key(PDF, "invoice")
    noted = replace(await office.sidecar(key), retry_count=2, attempt_id="a", task_id="t")
    await office.queue.put_if_match(
        key.sidecar, noted.to_bytes(), version=(await office.queue.get_versioned(key.sidecar)).version
    )

    second = await office.hand_over(PDF, document_id=document_id)

    assert second.json() == first.json()
    assert await office.sidecar(key) == noted
    assert office.rows() == ["pending"]
    assert office.actions() == ["document_handed_over"]


async def test_two_documents_with_the_same_bytes_and_type_are_one_job(office: HandoverApi) -> None:
    await asyncio.gather(*(office.hand_over(PDF) for _ in range(4)))

    assert len(await office.jobs()) == 2
    assert office.rows() == ["pending"] * 4


async def test_the_same_bytes_of_another_type_or_organization_are_another_job(office: HandoverApi) -> None:
    stranger = office.seed.person()
    await office.hand_over(PDF, document_type="invoice")
    await office.hand_over(PDF, document_type="contract")
    async with office.api.client(stranger) as client:
        await office.hand_over(PDF, client=client, organization_id=stranger.organization_id)

    assert len(await office.jobs()) == 6


async def test_another_organization_does_not_exist(office: HandoverApi) -> None:
    stranger = office.seed.person(is_admin=True, is_operator=True)
    async with office.api.client(stranger) as client:
        answer = await office.hand_over(PDF, client=client)

    assert answer.status_code == 404
    assert answer.json() == {"detail": "Organization not found"}
    assert await office.jobs() == []


async def test_what_is_archived_is_not_queued_again(office: HandoverApi) -> None:
    document_id = str(uuid4())
    job_id = (await office.hand_over(PDF, document_id=document_id)).json()["job_id"]
    await office.patch(document_id, job_id, "archived", paperless_doc_id=7)
    await office.empty_queue()

    again = await office.hand_over(PDF, document_id=document_id)

    assert again.json() == {"job_id": job_id, "archive_status": "archived"}
    assert await office.jobs() == []


@pytest.mark.parametrize("content", [b"", b"plain text", b"\x89PNG\r\n\x1a\n" + b"x" * 100, b"<html></html>"])
async def test_what_is_no_pdf_is_refused(office: HandoverApi, content: bytes) -> None:
    answer = await office.hand_over(content)

    assert answer.status_code == 415
    assert office.rows() == []
    assert await office.jobs() == []


async def test_another_hash_than_the_stated_one_is_refused_before_anything_is_visible(office: HandoverApi) -> None:
    answer = await office.hand_over(PDF, sha256="0" * 64)

    assert answer.status_code == 422
    assert answer.json()["detail"][0]["msg"] == "The file does not match the given SHA-256"
    assert office.rows() == []
    assert await office.jobs() == []
    assert (await office.hand_over(PDF, sha256=SHA256.upper())).status_code == 202


@pytest.mark.parametrize(
    "fields",
    [
        {"document_id": None},
        {"document_id": "7"},
        {"document_type": None},
        {"document_type": "care-plan"},
        {"metadata": "{"},
        {"metadata": "[]"},
        {"metadata": '{"invoiceNumber": 7}'},
        {"metadata": '{"contractId": "a\\u0000"}'},
        {"metadata": '{"contractId": "\\ud800"}'},
        {"metadata": "[" * 10_000},
        {"sha256": "x"},
        {"priority": "URGENT"},
    ],
)
async def test_fields_that_cannot_be_understood_are_refused(office: HandoverApi, fields: dict[str, Any]) -> None:
    answer = await office.hand_over(PDF, **fields)

    assert answer.status_code == 422, answer.text
    assert office.rows() == []
    assert await office.jobs() == []


async def test_a_form_without_its_file_is_refused(office: HandoverApi) -> None:
    answer = await office.client.post(
        f"/api/v1/organizations/{office.organization_id}/archive", files={"other": ("a.pdf", PDF)}
    )
    assert answer.status_code == 422


async def test_a_queue_that_cannot_be_written_is_said_and_noted(office: HandoverApi) -> None:
    office.queue.is_down = True
    document_id = str(uuid4())
    answer = await office.hand_over(PDF, document_id=document_id)

    assert answer.status_code == 503
    assert answer.json() == FAILURE
    assert answer.headers["retry-after"] == "300"
    assert office.rows("archive_status, next_attempt_at") == [("failed", None)]

    office.queue.is_down = False
    again = await office.hand_over(PDF, document_id=document_id)
    assert again.status_code == 202
    assert office.rows("archive_status, last_error") == [("pending", None)]
    assert len(await office.jobs()) == 2


async def test_a_large_pdf_comes_through_whole(office: HandoverApi) -> None:
    large = PDF + b"\n%" + b"x" * (6 * 1024 * 1024) + b"\n%%EOF\n"
    answer = await office.hand_over(large)

    assert answer.status_code == 202
    assert await office.queue.get(answer.json()["job_id"]) == large


async def test_more_than_is_allowed_is_refused() -> None:
    async def chunks() -> Any:
        for _ in range(3):
            yield b"%PDF-" + b"x" * 10

    with SpooledUpload(max_bytes=40) as incoming, pytest.raises(TooLarge):
        await incoming.receive(chunks())


async def test_the_row_comes_first_and_the_sidecar_last(office: HandoverApi) -> None:
    seen = list[tuple[list[str], list[str]]]()

    async def look(key: str) -> None:
        seen.append((office.rows(), await office.jobs()))

    office.queue.before_put = look
    await office.hand_over(PDF)

    assert seen == [(["pending"], [office.key(PDF, "invoice").pdf])]


async def test_a_pdf_that_went_with_an_earlier_job_is_written_again(office: HandoverApi) -> None:
    key = office.key(PDF, "invoice")

    async def end_earlier_job(_: str) -> None:  # as the archiver does: the PDF, then its sidecar
        await office.queue.delete(key.pdf)
        await office.queue.delete(key.sidecar)

    office.queue.before_put = end_earlier_job
    assert (await office.hand_over(PDF)).status_code == 202
    assert await office.jobs() == [key.sidecar, key.pdf]
