"""Outcomes of an upload after it was accepted."""

from dataclasses import replace

import pytest

from muniment.handover.paperless.client import PaperlessClient
from muniment.handover.paperless.errors import DocumentForbidden, PaperlessKind, PaperlessMisconfigured, StaleObjectId
from muniment.handover.paperless.models import TaskFailure, TaskStatus
from tests.handover.paperless.uploads import UploadTarget, a_name
from tests.support.fake_paperless import outcomes
from tests.support.fake_paperless.fake import FakePaperless
from tests.support.fake_paperless.outcomes import Outcome
from tests.support.fake_paperless.users import COLLEAGUE, UPLOADER, WITHOUT_TASKS


def _pdf() -> bytes:
    return f"%PDF-1.7 {a_name()} %%EOF".encode()


@pytest.mark.parametrize(
    ("outcome", "failure"),
    [
        (outcomes.database_locked(), TaskFailure.TRANSIENT),
        (outcomes.lost_race(), TaskFailure.TRANSIENT),
        (outcomes.worker_lost(), TaskFailure.TRANSIENT),
        (outcomes.half_written("whatever it was", reads=99), TaskFailure.TRANSIENT),
        (outcomes.fails("{name}: Unsupported mime type application/octet-stream"), TaskFailure.INVALID_FILE),
        (
            outcomes.fails("{name}: Error occurred while consuming document {name}: InputFileError: "),
            TaskFailure.INVALID_FILE,
        ),
        (outcomes.fails("{name}: Not consuming {name}: Given ASN 7 already exists!"), TaskFailure.INVALID_FILE),
    ],
)
async def test_a_failure_is_the_files_or_a_moments(
    server: FakePaperless, fake_upload_target: UploadTarget, outcome: Outcome, failure: TaskFailure
) -> None:
    server.next_uploads(outcome)
    task = await fake_upload_target.paperless.find_task(await fake_upload_target.send(_pdf()))
    assert task is not None
    assert (task.status, task.failure, task.document_id) == (TaskStatus.FAILURE, failure, None)


async def test_a_reason_that_comes_a_little_later_is_waited_for(
    server: FakePaperless, fake_upload_target: UploadTarget
) -> None:
    server.next_uploads(outcomes.half_written("x.pdf: Unsupported mime type application/octet-stream"))
    task = await fake_upload_target.paperless.find_task(await fake_upload_target.send(_pdf()))
    assert task is not None
    assert task.failure is TaskFailure.INVALID_FILE


@pytest.mark.parametrize("stuck", [TaskStatus.PENDING, TaskStatus.STARTED])
async def test_a_task_that_hangs_is_not_done(
    server: FakePaperless, fake_upload_target: UploadTarget, stuck: TaskStatus
) -> None:
    server.next_uploads(Outcome(stuck=stuck.lower()))
    task_id = await fake_upload_target.send(_pdf())
    for _ in range(3):
        task = await fake_upload_target.paperless.find_task(task_id)
        assert task is not None
        assert (task.status, task.is_done, task.failure, task.document_id) == (stuck, False, None, None)


async def test_a_task_is_taken_up_when_the_worker_comes_back(
    server: FakePaperless, fake_upload_target: UploadTarget
) -> None:
    server.set(worker="stopped")
    task_id = await fake_upload_target.send(_pdf())
    waiting = await fake_upload_target.paperless.find_task(task_id)
    assert waiting is not None
    assert waiting.status is TaskStatus.PENDING
    server.set(worker="running")
    done = await fake_upload_target.paperless.find_task(task_id)
    assert done is not None
    assert done.status is TaskStatus.SUCCESS


async def test_a_dropped_history_leaves_the_document_without_its_task(
    server: FakePaperless, fake_upload_target: UploadTarget
) -> None:
    name = f"{a_name()}.pdf".replace(":", "-")
    task_id = await fake_upload_target.send(_pdf(), file_name=name)
    server.delete_tasks()
    assert await fake_upload_target.paperless.find_task(task_id) is None
    assert await fake_upload_target.paperless.list_tasks_by_file_name(name) == []
    assert len(await fake_upload_target.paperless.find_by_file_name(name)) == 1


async def test_success_without_an_id_says_so(server: FakePaperless, fake_upload_target: UploadTarget) -> None:
    server.next_uploads(outcomes.without_id())
    task = await fake_upload_target.paperless.find_task(await fake_upload_target.send(_pdf()))
    assert task is not None
    assert (task.status, task.is_done, task.document_id) == (TaskStatus.SUCCESS, True, None)


async def test_a_copy_that_is_hidden_from_us_is_named_but_not_to_be_touched(
    server: FakePaperless, fake_upload_target: UploadTarget
) -> None:
    server.set(delete_duplicates=True)
    pdf = _pdf()
    theirs = server.put_document(pdf, owner=COLLEAGUE)
    task = await fake_upload_target.paperless.find_task(await fake_upload_target.send(pdf))
    assert task is not None
    assert (task.failure, task.document_id, task.is_in_trash) == (TaskFailure.DUPLICATE, theirs, False)
    assert await fake_upload_target.paperless.find_document(theirs) is None
    assert await fake_upload_target.paperless.find_by_checksum(pdf) == []
    with pytest.raises(DocumentForbidden):
        await fake_upload_target.paperless.add_tags(theirs, fake_upload_target.tags)


async def test_a_refused_copy_of_a_document_with_a_misleading_title_is_read_right(
    server: FakePaperless, fake_upload_target: UploadTarget
) -> None:
    server.set(delete_duplicates=True)
    pdf = _pdf()
    for is_trashed in (False, True):
        theirs = server.put_document(pdf, title="It is a duplicate of (#1)\n#2", is_trashed=is_trashed)
        task = await fake_upload_target.paperless.find_task(await fake_upload_target.send(pdf))
        assert task is not None
        assert (task.failure, task.document_id, task.is_in_trash) == (TaskFailure.DUPLICATE, theirs, is_trashed)
        pdf = _pdf()


async def test_a_trashed_copy_that_is_somebody_elses_cannot_be_restored(
    server: FakePaperless, client: PaperlessClient
) -> None:
    theirs = server.put_document(_pdf(), owner=COLLEAGUE, is_trashed=True)
    with pytest.raises(DocumentForbidden):
        await client.restore(theirs)
    assert theirs not in [document.id async for document in client.iter_trash()]


async def test_an_unknown_correspondent_is_named_when_it_is_set(server: FakePaperless, client: PaperlessClient) -> None:
    document = server.put_document(_pdf())
    with pytest.raises(StaleObjectId) as refused:
        await client.fill_missing_metadata(document, correspondent=99_999_999)
    assert refused.value.kind is PaperlessKind.CORRESPONDENT
    with pytest.raises(StaleObjectId) as refused:
        await client.fill_missing_metadata(document, document_type=99_999_999)
    assert refused.value.kind is PaperlessKind.DOCUMENT_TYPE
    with pytest.raises(StaleObjectId) as refused:
        await client.fill_missing_metadata(document, custom_fields={99_999_999: "x"})
    assert refused.value.kind is PaperlessKind.CUSTOM_FIELD


async def test_a_token_that_may_not_see_tasks_or_upload_stops_the_line(
    server: FakePaperless, fake_upload_target: UploadTarget
) -> None:
    async with PaperlessClient(server.url, WITHOUT_TASKS.token) as client:
        with pytest.raises(PaperlessMisconfigured):
            await client.find_task("11111111-1111-1111-1111-111111111111")
    async with PaperlessClient(server.url, UPLOADER.token) as client:
        with pytest.raises(PaperlessMisconfigured):
            await client.version()
    async with PaperlessClient(server.url, "f" * 40) as reader:
        with pytest.raises(PaperlessMisconfigured):
            await replace(fake_upload_target, paperless=reader).send(_pdf())
    async with PaperlessClient(server.url, "0" * 40) as stranger:
        with pytest.raises(PaperlessMisconfigured, match="rejected the API token"):
            await stranger.version()


async def test_the_task_of_another_user_looks_like_none(
    server: FakePaperless, fake_upload_target: UploadTarget
) -> None:
    task_id = await fake_upload_target.send(_pdf())
    async with PaperlessClient(server.url, COLLEAGUE.token) as colleague:
        assert await colleague.find_task(task_id) is None


async def test_what_rules_and_inbox_tags_add_does_not_hide_our_tags(
    server: FakePaperless, fake_upload_target: UploadTarget
) -> None:
    inbox = server.create_object("tags", a_name("inbox"), owner=COLLEAGUE, is_inbox_tag=True)
    rule = server.create_object("tags", a_name("rule"), match="zebra", matching_algorithm=1)
    document = await fake_upload_target.put(b"%PDF-1.7 about a zebra %%EOF")
    server.delete_object("tags", inbox)
    assert document.tags == {inbox, rule, *fake_upload_target.tags}
