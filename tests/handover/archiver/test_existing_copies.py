"""Copies that Paperless already has are adopted, restored or de-duplicated."""

import pytest

from tests.documents.uploads import a_pdf
from tests.handover.archiver.environment import ArchiverEnvironment, open_archiver
from tests.support.fake_paperless.users import ADMIN


async def test_a_copy_that_a_person_put_there_becomes_ours_and_keeps_what_it_says(stage: ArchiverEnvironment) -> None:
    theirs = stage.server.create_object("correspondents", "Aunt")
    mine = stage.server.create_object("tags", "kitchen")
    document_id = stage.server.put_document(a_pdf(), correspondent=theirs, tags=[mine])
    key = await stage.put()

    report = await stage.run()

    assert report.actions == {"archived": 1}
    [document] = stage.documents()
    assert document.id == document_id
    assert document.correspondent == "Aunt"
    assert document.document_type == "Invoice"
    assert {"kitchen", f"bilko-source-uuid:{key.sha256}", f"org:{stage.office.organization_id}"} <= set(document.tags)
    assert document.custom_fields["bilko_sha256"] == key.sha256
    assert stage.server.requests("upload") == []


async def test_a_copy_that_our_token_cannot_see_is_a_dead_letter_that_says_so(stage: ArchiverEnvironment) -> None:
    stage.server.set(delete_duplicates=True)
    document_id = stage.server.put_document(a_pdf(), owner=ADMIN)
    key = await stage.put()

    report = await stage.run()

    assert report.actions == {"dead_letter": 1}
    error = (await stage.sidecar(key, stage.office.dead_letters)).last_error
    assert error == f"Paperless already has this file as document {document_id}, which the token cannot access"


async def test_our_copy_in_the_trash_is_brought_back(stage: ArchiverEnvironment) -> None:
    await stage.put()
    await stage.run()
    [document] = stage.documents()
    async with open_archiver(stage.archiver()) as archiver:
        await archiver.paperless.move_to_trash(document.id)
    await stage.put()

    report = await stage.run()

    assert report.actions == {"archived": 1}
    assert [found.id for found in stage.documents()] == [document.id]


async def test_by_setting_a_new_copy_is_uploaded_where_paperless_takes_one(stage: ArchiverEnvironment) -> None:
    await stage.put()
    await stage.run()
    [document] = stage.documents()
    async with open_archiver(stage.archiver()) as archiver:
        await archiver.paperless.move_to_trash(document.id)
    await stage.put()

    await stage.run(restore_trashed=False)

    [found] = stage.documents()
    assert (found.id == document.id) == (stage.server.switches["flavour"] == 2)
    assert await stage.waiting() == []


async def test_a_persons_copy_in_the_trash_of_2_x_is_brought_back_and_becomes_ours(stage: ArchiverEnvironment) -> None:
    stage.server.set(delete_duplicates=True)  # so that 3.x refuses it, too
    document_id = stage.server.put_document(a_pdf(), is_trashed=True)
    key = await stage.put()

    await stage.run()

    [document] = stage.documents()
    assert document.id == document_id
    assert f"bilko-source-uuid:{key.sha256}" in document.tags


async def test_of_two_documents_with_our_tags_the_lower_stays_and_people_are_told(stage3: ArchiverEnvironment) -> None:
    await stage3.put()
    await stage3.run()
    [first] = stage3.documents()
    tags = {thing["name"]: thing["id"] for thing in stage3.server.objects("tags")}
    double = stage3.server.put_document(a_pdf(), file_name=first.file_name, tags=[tags[name] for name in first.tags])
    await stage3.put()

    report = await stage3.run()

    assert [document.id for document in stage3.documents()] == [first.id]
    assert [document.id for document in stage3.server.documents(is_trashed=True)] == [double]
    assert len(report.warnings) == 1
    assert stage3.notifier.titles == ["P2 Muniment archiver: reports"]


async def test_a_second_document_that_a_person_tagged_is_not_put_away(stage3: ArchiverEnvironment) -> None:
    await stage3.put()
    await stage3.run()
    [first] = stage3.documents()
    tags = {thing["name"]: thing["id"] for thing in stage3.server.objects("tags")}
    stage3.server.put_document(a_pdf(), file_name="by hand.pdf", tags=[tags[name] for name in first.tags])
    await stage3.put()

    await stage3.run()

    assert len(stage3.documents()) == 2
    assert await stage3.waiting() == []


async def test_a_document_with_our_tags_but_other_bytes_proves_nothing(stage: ArchiverEnvironment) -> None:
    key = await stage.put("the document")
    async with open_archiver(stage.archiver()) as archiver:
        ids = await archiver.build_objects().resolve(await stage.sidecar(key))
    stage.server.put_document(a_pdf("another"), tags=sorted(ids.tags))

    report = await stage.run()

    assert report.actions == {"failed": 1}
    assert await stage.waiting() == [key.sidecar, key.pdf]
    assert (await stage.sidecar(key)).retry_count == 1


@pytest.mark.parametrize("flaw", ["organization", "content"])
async def test_one_of_our_two_tags_is_not_enough(stage3: ArchiverEnvironment, flaw: str) -> None:
    key = await stage3.put()
    async with open_archiver(stage3.archiver()) as archiver:
        ids = await archiver.build_objects().resolve(await stage3.sidecar(key))
    tag = ids.content_tag if flaw == "organization" else ids.organization_tag
    stage3.server.put_document(a_pdf("another"), tags=[tag])

    await stage3.run()

    assert key.sha256 in {document.sha256 for document in stage3.documents()}


async def test_a_rule_of_paperless_that_adds_a_tag_is_no_reason_to_doubt(stage3: ArchiverEnvironment) -> None:
    stage3.server.create_object("tags", "inbox", is_inbox_tag=True)
    await stage3.put()

    report = await stage3.run()

    assert report.actions == {"archived": 1}
    assert "inbox" in stage3.documents()[0].tags
