import io
from datetime import date
from typing import Any
from uuid import UUID, uuid4

import pytest

from muniment.handover.paperless.client import PaperlessClient
from muniment.handover.paperless.errors import PaperlessKind, RequestRejected, StaleObjectId
from muniment.handover.paperless.models import TaskFailure, TaskStatus
from tests.handover.paperless.uploads import UploadTarget, a_pdf, wait_for_task


async def test_an_upload_is_answered_with_a_task_that_ends_in_a_document(
    upload_target: UploadTarget, paperless: PaperlessClient
) -> None:
    task_id = await upload_target.send()
    assert str(UUID(task_id)) == task_id
    task = await wait_for_task(paperless, task_id)
    assert (task.status, task.failure) == (TaskStatus.SUCCESS, None)
    assert task.document_id is not None


async def test_everything_that_is_said_about_a_file_arrives(upload_target: UploadTarget) -> None:
    name = f"{uuid4()}.pdf"
    document = await upload_target.put(file_name=name, title="Contract — Firma AS", created=date(2024, 2, 29))
    assert document.original_file_name == name
    fields = await upload_target.raw_fields(document.id)
    assert fields["title"] == "Contract — Firma AS"
    assert fields["created"].startswith("2024-02-29")
    assert fields["deleted_at"] is None
    assert document.tags.issuperset(upload_target.tags)
    assert (document.correspondent, document.document_type) == (
        upload_target.correspondent,
        upload_target.document_type,
    )
    assert document.custom_fields[upload_target.field] == "a value"


async def test_a_title_beyond_the_limit_is_cut_and_not_refused(upload_target: UploadTarget) -> None:
    document = await upload_target.put(title="é" * 200)
    assert (await upload_target.raw_fields(document.id))["title"] == "é" * 127


async def test_an_open_file_is_sent_as_it_is_from_its_beginning(
    upload_target: UploadTarget, paperless: PaperlessClient
) -> None:
    pdf = a_pdf()
    file = io.BytesIO(pdf)
    file.read(100)
    document = await upload_target.put(file)
    assert b"".join([piece async for piece in paperless.download_original(document.id)]) == pdf


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        (PaperlessKind.TAG, {"tags": [99_999_999]}),
        (PaperlessKind.CORRESPONDENT, {"correspondent": 99_999_999}),
        (PaperlessKind.DOCUMENT_TYPE, {"document_type": 99_999_999}),
        (PaperlessKind.CUSTOM_FIELD, {"custom_fields": {99_999_999: "a value"}}),
    ],
)
async def test_an_id_that_paperless_does_not_know_is_named_by_its_kind(
    upload_target: UploadTarget, kind: PaperlessKind, changes: dict[str, Any]
) -> None:
    with pytest.raises(StaleObjectId) as refused:
        await upload_target.send(**changes)
    assert refused.value.kind is kind


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04" + bytes(100)], ids=["empty", "zip"])
async def test_what_paperless_never_takes_is_rejected_with_its_reason(
    upload_target: UploadTarget, content: bytes
) -> None:
    with pytest.raises(RequestRejected) as refused:
        await upload_target.send(content)
    assert "document" in refused.value.reason
    assert refused.value.fields == {"document"}


async def test_a_broken_file_fails_for_its_own_sake(upload_target: UploadTarget, paperless: PaperlessClient) -> None:
    task = await wait_for_task(paperless, await upload_target.send(a_pdf()[:200]))
    assert task.failure is TaskFailure.INVALID_FILE
    assert task.document_id is None
