import pytest

from muniment.handover.paperless.client import Paperless
from muniment.handover.paperless.errors import Gone
from muniment.handover.paperless.models import Failure
from tests.handover.paperless.uploads import Archive, a_pdf, done


async def test_a_trashed_document_is_nowhere_but_in_the_trash(archive: Archive, paperless: Paperless) -> None:
    pdf = a_pdf()
    document = await archive.put(pdf)
    await paperless.trash(document.id)
    assert await paperless.document(document.id) is None
    assert await paperless.find_tagged(archive.tags) == []
    assert await paperless.find_by_checksum(pdf) == []
    [found] = [found async for found in paperless.trashed() if found.id == document.id]
    assert found.is_trashed
    assert found.tags.issuperset(archive.tags)


async def test_trashing_twice_is_no_error(archive: Archive, paperless: Paperless) -> None:
    document = await archive.put()
    for _ in range(2):
        await paperless.trash(document.id)


async def test_a_restored_document_has_its_old_id_and_tags(archive: Archive, paperless: Paperless) -> None:
    document = await archive.put()
    await paperless.trash(document.id)
    await paperless.restore(document.id)
    again = await paperless.document(document.id)
    assert again is not None
    assert (again.id, again.tags, again.is_trashed) == (document.id, document.tags, False)
    assert document.id not in [found.id async for found in paperless.trashed()]


async def test_what_does_not_lie_in_the_trash_cannot_be_restored(archive: Archive, paperless: Paperless) -> None:
    document = await archive.put()
    for document_id in (document.id, 99_999_999):
        with pytest.raises(Gone):
            await paperless.restore(document_id)


async def test_the_same_bytes_again_while_the_first_lie_in_the_trash(archive: Archive, paperless: Paperless) -> None:
    pdf = a_pdf()
    first = await archive.put(pdf)
    await paperless.trash(first.id)
    task = await done(paperless, await archive.send(pdf))
    if (await paperless.version()).major == 2 or task.failure:
        assert (task.failure, task.document_id, task.is_in_trash) == (Failure.DUPLICATE, first.id, True)
    else:
        assert task.document_id not in (None, first.id)
