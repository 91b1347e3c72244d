import pytest

from muniment.handover.paperless.client import PaperlessClient
from muniment.handover.paperless.errors import PaperlessDocumentGone
from muniment.handover.paperless.models import TaskFailure
from tests.handover.paperless.uploads import UploadTarget, a_pdf, wait_for_task


async def test_a_trashed_document_is_nowhere_but_in_the_trash(
    upload_target: UploadTarget, paperless: PaperlessClient
) -> None:
    pdf = a_pdf()
    document = await upload_target.put(pdf)
    await paperless.move_to_trash(document.id)
    assert await paperless.find_document(document.id) is None
    assert await paperless.find_tagged(upload_target.tags) == []
    assert await paperless.find_by_checksum(pdf) == []
    [found] = [found async for found in paperless.iter_trash() if found.id == document.id]
    assert found.tags.issuperset(upload_target.tags)


async def test_trashing_twice_is_no_error(upload_target: UploadTarget, paperless: PaperlessClient) -> None:
    document = await upload_target.put()
    for _ in range(2):
        await paperless.move_to_trash(document.id)


async def test_a_restored_document_has_its_old_id_and_tags(
    upload_target: UploadTarget, paperless: PaperlessClient
) -> None:
    document = await upload_target.put()
    await paperless.move_to_trash(document.id)
    await paperless.restore(document.id)
    again = await paperless.find_document(document.id)
    assert again is not None
    assert (again.id, again.tags) == (document.id, document.tags)
    assert document.id not in [found.id async for found in paperless.iter_trash()]


async def test_what_does_not_lie_in_the_trash_cannot_be_restored(
    upload_target: UploadTarget, paperless: PaperlessClient
) -> None:
    document = await upload_target.put()
    for document_id in (document.id, 99_999_999):
        with pytest.raises(PaperlessDocumentGone):
            await paperless.restore(document_id)


async def test_the_same_bytes_again_while_the_first_lie_in_the_trash(
    upload_target: UploadTarget, paperless: PaperlessClient
) -> None:
    pdf = a_pdf()
    first = await upload_target.put(pdf)
    await paperless.move_to_trash(first.id)
    task = await wait_for_task(paperless, await upload_target.send(pdf))
    if (await paperless.version()).major == 2 or task.failure:
        assert (task.failure, task.document_id, task.is_in_trash) == (TaskFailure.DUPLICATE, first.id, True)
    else:
        assert task.document_id not in (None, first.id)
