import hashlib
import io
from datetime import date

import pytest

from muniment.handover.paperless.client import PaperlessClient
from muniment.handover.paperless.errors import PaperlessDocumentGone, PaperlessKind, StaleObjectId
from tests.handover.paperless.uploads import UploadTarget, a_name, a_pdf

NOWHERE = 99_999_999


async def test_found_is_what_carries_all_of_the_tags(upload_target: UploadTarget, paperless: PaperlessClient) -> None:
    both = await upload_target.put()
    one = await upload_target.put(tags=[upload_target.source])
    assert [document.id for document in await paperless.find_tagged(upload_target.tags)] == [both.id]
    assert [document.id for document in await paperless.find_tagged([upload_target.source])] == [both.id, one.id]


async def test_a_tag_that_does_not_exist_is_on_no_document(
    upload_target: UploadTarget, paperless: PaperlessClient
) -> None:
    await upload_target.put()
    assert await paperless.find_tagged([upload_target.source, NOWHERE]) == []


async def test_asking_for_nothing_is_refused_because_it_would_find_everything(paperless: PaperlessClient) -> None:
    with pytest.raises(ValueError, match="every document"):
        await paperless.find_tagged([])
    with pytest.raises(ValueError, match="every document"):
        await paperless.find_by_file_name("")


async def test_the_same_bytes_are_found_by_their_checksum_and_no_others(
    upload_target: UploadTarget, paperless: PaperlessClient
) -> None:
    pdf = a_pdf()
    document = await upload_target.put(pdf)
    assert [found.id for found in await paperless.find_by_checksum(pdf)] == [document.id]
    file = io.BytesIO(pdf)
    file.read(100)
    assert [found.id for found in await paperless.find_by_checksum(file)] == [document.id]
    assert await paperless.find_by_checksum(a_pdf()) == []


async def test_a_document_is_found_by_the_exact_name_of_its_file(
    upload_target: UploadTarget, paperless: PaperlessClient
) -> None:
    name = f"{a_name('muniment').replace(':', '-')}.pdf"
    document = await upload_target.put(file_name=name)
    assert [found.id for found in await paperless.find_by_file_name(name)] == [document.id]
    assert await paperless.find_by_file_name(name.upper()) == []


async def test_a_document_that_is_not_there_is_nothing(paperless: PaperlessClient) -> None:
    assert await paperless.find_document(NOWHERE) is None


async def test_the_original_comes_back_byte_for_byte(upload_target: UploadTarget, paperless: PaperlessClient) -> None:
    pdf = a_pdf()
    document = await upload_target.put(pdf)
    assert b"".join([piece async for piece in paperless.download_original(document.id)]) == pdf


async def test_the_checksum_is_sha256_from_version_3_on_and_md5_before(
    upload_target: UploadTarget, paperless: PaperlessClient
) -> None:
    pdf = a_pdf()
    document = await upload_target.put(pdf)
    has_sha256 = (await paperless.version()).has_sha256
    wanted = hashlib.sha256(pdf) if has_sha256 else hashlib.md5(pdf)
    assert await paperless.get_checksum(document.id) == wanted.hexdigest()


async def test_checksum_and_bytes_of_a_document_that_is_not_there_are_gone(paperless: PaperlessClient) -> None:
    with pytest.raises(PaperlessDocumentGone):
        await paperless.get_checksum(NOWHERE)
    with pytest.raises(PaperlessDocumentGone):
        [piece async for piece in paperless.download_original(NOWHERE)]


async def test_tags_are_added_to_those_that_are_there(upload_target: UploadTarget, paperless: PaperlessClient) -> None:
    document = await upload_target.put(tags=[upload_target.source])
    for _ in range(2):
        await paperless.add_tags(document.id, [upload_target.organization])
    again = await paperless.find_document(document.id)
    assert again is not None
    assert again.tags == document.tags | {upload_target.organization}


async def test_tagging_with_an_unknown_tag_or_a_document_that_is_gone_says_which(
    upload_target: UploadTarget, paperless: PaperlessClient
) -> None:
    document = await upload_target.put()
    with pytest.raises(StaleObjectId) as refused:
        await paperless.add_tags(document.id, [NOWHERE])
    assert refused.value.kind is PaperlessKind.TAG
    with pytest.raises(PaperlessDocumentGone):
        await paperless.add_tags(NOWHERE, [upload_target.source])


async def test_only_what_is_empty_is_set(upload_target: UploadTarget, paperless: PaperlessClient) -> None:
    document = await upload_target.put(created=date(2020, 1, 2))
    before = await upload_target.raw_fields(document.id)
    other = await paperless.get_or_create(PaperlessKind.CORRESPONDENT, a_name())
    second = await paperless.get_or_create(PaperlessKind.CUSTOM_FIELD, a_name())
    await paperless.fill_missing_metadata(
        document.id, correspondent=other, custom_fields={upload_target.field: "another", second: "new"}
    )
    again = await paperless.find_document(document.id)
    assert again is not None
    assert again.correspondent == upload_target.correspondent
    assert again.custom_fields == {upload_target.field: "a value", second: "new"}
    after = await upload_target.raw_fields(document.id)
    assert all(after[name] == before[name] for name in ("title", "created", "tags"))


async def test_setting_something_on_a_document_that_is_gone_says_so(
    upload_target: UploadTarget, paperless: PaperlessClient
) -> None:
    with pytest.raises(PaperlessDocumentGone):
        await paperless.fill_missing_metadata(NOWHERE, correspondent=upload_target.correspondent)
