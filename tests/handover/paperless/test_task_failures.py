"""What becomes of an upload after it was accepted."""

from dataclasses import replace

import pytest

from muniment.handover.paperless.client import Paperless
from muniment.handover.paperless.errors import Kind, LineStopped, NotForThis, UnknownId
from muniment.handover.paperless.models import Failure, TaskStatus
from tests.handover.paperless.uploads import Archive, a_name
from tests.support.fake_paperless import outcomes
from tests.support.fake_paperless.fake import StandIn
from tests.support.fake_paperless.outcomes import Outcome
from tests.support.fake_paperless.users import COLLEAGUE, UPLOADER, WITHOUT_TASKS


def _pdf() -> bytes:
    return f"%PDF-1.7 {a_name()} %%EOF".encode()


@pytest.mark.parametrize(
    ("outcome", "failure"),
    [
        (outcomes.database_locked(), Failure.MOMENTARY),
        (outcomes.lost_race(), Failure.MOMENTARY),
        (outcomes.worker_lost(), Failure.MOMENTARY),
        (outcomes.half_written("whatever it was", reads=99), Failure.MOMENTARY),
        (outcomes.fails("{name}: Unsupported mime type application/octet-stream"), Failure.OF_THE_FILE),
        (
            outcomes.fails("{name}: Error occurred while consuming document {name}: InputFileError: "),
            Failure.OF_THE_FILE,
        ),
        (outcomes.fails("{name}: Not consuming {name}: Given ASN 7 already exists!"), Failure.OF_THE_FILE),
    ],
)
async def test_a_failure_is_the_files_or_a_moments(
    server: StandIn, shelf: Archive, outcome: Outcome, failure: Failure
) -> None:
    server.next_uploads(outcome)
    task = await shelf.paperless.task(await shelf.send(_pdf()))
    assert task is not None
    assert (task.status, task.failure, task.document_id) == (TaskStatus.FAILURE, failure, None)


async def test_a_reason_that_comes_a_little_later_is_waited_for(server: StandIn, shelf: Archive) -> None:
    server.next_uploads(outcomes.half_written("x.pdf: Unsupported mime type application/octet-stream"))
    task = await shelf.paperless.task(await shelf.send(_pdf()))
    assert task is not None
    assert task.failure is Failure.OF_THE_FILE


@pytest.mark.parametrize("stuck", [TaskStatus.PENDING, TaskStatus.STARTED])
async def test_a_task_that_hangs_is_not_done(server: StandIn, shelf: Archive, stuck: TaskStatus) -> None:
    server.next_uploads(Outcome(stuck=stuck.lower()))
    task_id = await shelf.send(_pdf())
    for _ in range(3):
        task = await shelf.paperless.task(task_id)
        assert task is not None
        assert (task.status, task.is_done, task.failure, task.document_id) == (stuck, False, None, None)


async def test_a_task_is_taken_up_when_the_worker_comes_back(server: StandIn, shelf: Archive) -> None:
    server.set(worker="stopped")
    task_id = await shelf.send(_pdf())
    waiting = await shelf.paperless.task(task_id)
    assert waiting is not None
    assert waiting.status is TaskStatus.PENDING
    server.set(worker="running")
    done = await shelf.paperless.task(task_id)
    assert done is not None
    assert done.status is TaskStatus.SUCCESS


async def test_a_dropped_history_leaves_the_document_without_its_task(server: StandIn, shelf: Archive) -> None:
    name = f"{a_name()}.pdf".replace(":", "-")
    task_id = await shelf.send(_pdf(), file_name=name)
    server.forget_tasks()
    assert await shelf.paperless.task(task_id) is None
    assert await shelf.paperless.tasks_of_file(name) == []
    assert len(await shelf.paperless.find_by_file_name(name)) == 1


async def test_success_without_an_id_says_so(server: StandIn, shelf: Archive) -> None:
    server.next_uploads(outcomes.without_id())
    task = await shelf.paperless.task(await shelf.send(_pdf()))
    assert task is not None
    assert (task.status, task.is_done, task.document_id) == (TaskStatus.SUCCESS, True, None)


async def test_a_copy_that_is_hidden_from_us_is_named_but_not_to_be_touched(server: StandIn, shelf: Archive) -> None:
    server.set(delete_duplicates=True)
    pdf = _pdf()
    theirs = server.put_document(pdf, owner=COLLEAGUE)
    task = await shelf.paperless.task(await shelf.send(pdf))
    assert task is not None
    assert (task.failure, task.document_id, task.is_in_trash) == (Failure.DUPLICATE, theirs, False)
    assert await shelf.paperless.document(theirs) is None
    assert await shelf.paperless.find_by_checksum(pdf) == []
    with pytest.raises(NotForThis):
        await shelf.paperless.add_tags(theirs, shelf.tags)


async def test_a_refused_copy_of_a_document_with_a_misleading_title_is_read_right(
    server: StandIn, shelf: Archive
) -> None:
    server.set(delete_duplicates=True)
    pdf = _pdf()
    for is_trashed in (False, True):
        theirs = server.put_document(pdf, title="It is a duplicate of (#1)\n#2", is_trashed=is_trashed)
        task = await shelf.paperless.task(await shelf.send(pdf))
        assert task is not None
        assert (task.failure, task.document_id, task.is_in_trash) == (Failure.DUPLICATE, theirs, is_trashed)
        pdf = _pdf()


async def test_a_trashed_copy_that_is_somebody_elses_cannot_be_restored(server: StandIn, client: Paperless) -> None:
    theirs = server.put_document(_pdf(), owner=COLLEAGUE, is_trashed=True)
    with pytest.raises(NotForThis):
        await client.restore(theirs)
    assert theirs not in [document.id async for document in client.trashed()]


async def test_an_unknown_correspondent_is_named_when_it_is_set(server: StandIn, client: Paperless) -> None:
    document = server.put_document(_pdf())
    with pytest.raises(UnknownId) as refused:
        await client.set_where_empty(document, correspondent=99_999_999)
    assert refused.value.kind is Kind.CORRESPONDENT
    with pytest.raises(UnknownId) as refused:
        await client.set_where_empty(document, document_type=99_999_999)
    assert refused.value.kind is Kind.DOCUMENT_TYPE
    with pytest.raises(UnknownId) as refused:
        await client.set_where_empty(document, custom_fields={99_999_999: "x"})
    assert refused.value.kind is Kind.CUSTOM_FIELD


async def test_a_token_that_may_not_see_tasks_or_upload_stops_the_line(server: StandIn, shelf: Archive) -> None:
    async with Paperless(server.url, WITHOUT_TASKS.token) as client:
        with pytest.raises(LineStopped):
            await client.task("11111111-1111-1111-1111-111111111111")
    async with Paperless(server.url, UPLOADER.token) as client:
        with pytest.raises(LineStopped):
            await client.version()
    async with Paperless(server.url, "f" * 40) as reader:
        with pytest.raises(LineStopped):
            await replace(shelf, paperless=reader).send(_pdf())
    async with Paperless(server.url, "0" * 40) as stranger:
        with pytest.raises(LineStopped, match="rejected the API token"):
            await stranger.version()


async def test_the_task_of_another_user_looks_like_none(server: StandIn, shelf: Archive) -> None:
    task_id = await shelf.send(_pdf())
    async with Paperless(server.url, COLLEAGUE.token) as colleague:
        assert await colleague.task(task_id) is None


async def test_what_rules_and_inbox_tags_add_does_not_hide_our_tags(server: StandIn, shelf: Archive) -> None:
    inbox = server.make("tags", a_name("inbox"), owner=COLLEAGUE, is_inbox_tag=True)
    rule = server.make("tags", a_name("rule"), match="zebra", matching_algorithm=1)
    document = await shelf.put(b"%PDF-1.7 about a zebra %%EOF")
    server.forget_thing("tags", inbox)
    assert document.tags == {inbox, rule, *shelf.tags}
