from uuid import uuid4

import pytest

from muniment.handover.paperless.client import PaperlessClient
from muniment.handover.paperless.models import TaskFailure, TaskStatus
from tests.handover.paperless.uploads import UploadTarget, a_pdf, wait_for_task


async def test_a_task_that_paperless_does_not_know_is_nothing(paperless: PaperlessClient) -> None:
    assert await paperless.find_task(str(uuid4())) is None


async def test_asking_for_no_task_is_refused_because_it_would_find_all(paperless: PaperlessClient) -> None:
    with pytest.raises(ValueError, match="every task"):
        await paperless.find_task("")


async def test_a_task_is_known_at_once_and_found_by_the_name_of_its_file(
    upload_target: UploadTarget, paperless: PaperlessClient
) -> None:
    name = f"{uuid4()}.pdf"
    task_id = await upload_target.send(file_name=name)
    assert await paperless.find_task(task_id) is not None
    assert [task.task_id for task in await paperless.list_tasks_by_file_name(name)] == [task_id]
    assert await paperless.list_tasks_by_file_name(f"{uuid4()}.pdf") == []
    await wait_for_task(paperless, task_id)


async def test_the_same_bytes_twice_are_a_duplicate_or_a_second_document(
    upload_target: UploadTarget, paperless: PaperlessClient
) -> None:
    pdf = a_pdf()
    first = await upload_target.put(pdf)
    task = await wait_for_task(paperless, await upload_target.send(pdf, title="Another title"))
    if (await paperless.version()).major == 2 or task.failure:
        assert (task.failure, task.document_id, task.is_in_trash) == (TaskFailure.DUPLICATE, first.id, False)
        assert task.status is TaskStatus.FAILURE
    else:
        assert task.document_id not in (None, first.id)
        assert [found.id for found in await paperless.find_by_checksum(pdf)] == [first.id, task.document_id]
