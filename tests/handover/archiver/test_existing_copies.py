"""Copies that Paperless already has are adopted, restored or de-duplicated."""

import pytest

from muniment.handover.archiver.existing_copies import trash_own_duplicate
from muniment.handover.archiver.lease import hold_lease
from muniment.handover.archiver.pass_context import PassReport
from tests.documents.uploads import a_pdf
from tests.handover.archiver.environment import ArchiverEnvironment, open_archiver
from tests.support.fake_paperless.users import ADMIN


async def test_a_copy_that_a_person_put_there_becomes_ours_and_keeps_what_it_says(
    archiver_env: ArchiverEnvironment,
) -> None:
    theirs = archiver_env.server.create_object("correspondents", "Aunt")
    mine = archiver_env.server.create_object("tags", "kitchen")
    document_id = archiver_env.server.put_document(a_pdf(), correspondent=theirs, tags=[mine])
    key = await archiver_env.put()

    report = await archiver_env.run()

    assert report.actions == {"archived": 1}
    [document] = archiver_env.documents()
    assert document.id == document_id
    assert document.correspondent == "Aunt"
    assert document.document_type == "Invoice"
    assert {"kitchen", f"bilko-source-uuid:{key.sha256}", f"org:{archiver_env.office.organization_id}"} <= set(
        document.tags
    )
    assert document.custom_fields["bilko_sha256"] == key.sha256
    assert archiver_env.server.requests("upload") == []


async def test_a_copy_that_our_token_cannot_see_is_a_dead_letter_that_says_so(
    archiver_env: ArchiverEnvironment,
) -> None:
    archiver_env.server.set(delete_duplicates=True)
    document_id = archiver_env.server.put_document(a_pdf(), owner=ADMIN)
    key = await archiver_env.put()

    report = await archiver_env.run()

    assert report.actions == {"dead_letter": 1}
    error = (await archiver_env.sidecar(key, archiver_env.office.dead_letters)).last_error
    assert error == f"Paperless already has this file as document {document_id}, which the token cannot access"


async def test_a_foreign_copy_in_the_trash_is_a_dead_letter_that_says_so(archiver_env: ArchiverEnvironment) -> None:
    archiver_env.server.set(delete_duplicates=True)
    document_id = archiver_env.server.put_document(a_pdf(), owner=ADMIN, is_trashed=True)
    key = await archiver_env.put()

    report = await archiver_env.run()

    assert report.actions == {"dead_letter": 1}
    error = (await archiver_env.sidecar(key, archiver_env.office.dead_letters)).last_error
    assert error == f"Paperless has this file in its trash (document {document_id}), and the token cannot restore it"


async def test_our_copy_in_the_trash_is_brought_back(archiver_env: ArchiverEnvironment) -> None:
    await archiver_env.put()
    await archiver_env.run()
    [document] = archiver_env.documents()
    async with open_archiver(archiver_env.archiver()) as archiver:
        await archiver.paperless.move_to_trash(document.id)
    await archiver_env.put()

    report = await archiver_env.run()

    assert report.actions == {"archived": 1}
    assert [found.id for found in archiver_env.documents()] == [document.id]


async def test_by_setting_a_new_copy_is_uploaded_where_paperless_takes_one(archiver_env: ArchiverEnvironment) -> None:
    await archiver_env.put()
    await archiver_env.run()
    [document] = archiver_env.documents()
    async with open_archiver(archiver_env.archiver()) as archiver:
        await archiver.paperless.move_to_trash(document.id)
    await archiver_env.put()

    await archiver_env.run(restore_trashed=False)

    [found] = archiver_env.documents()
    assert (found.id == document.id) == (archiver_env.server.switches["flavour"] == 2)
    assert await archiver_env.waiting() == []


async def test_a_persons_copy_in_the_trash_of_2_x_is_brought_back_and_becomes_ours(
    archiver_env: ArchiverEnvironment,
) -> None:
    archiver_env.server.set(delete_duplicates=True)  # so that 3.x refuses it, too
    document_id = archiver_env.server.put_document(a_pdf(), is_trashed=True)
    key = await archiver_env.put()

    await archiver_env.run()

    [document] = archiver_env.documents()
    assert document.id == document_id
    assert f"bilko-source-uuid:{key.sha256}" in document.tags


async def test_of_two_documents_with_our_tags_the_lower_stays_and_people_are_told(
    archiver_env_v3: ArchiverEnvironment,
) -> None:
    await archiver_env_v3.put()
    await archiver_env_v3.run()
    [first] = archiver_env_v3.documents()
    tags = {thing["name"]: thing["id"] for thing in archiver_env_v3.server.objects("tags")}
    double = archiver_env_v3.server.put_document(
        a_pdf(), file_name=first.file_name, tags=[tags[name] for name in first.tags]
    )
    await archiver_env_v3.put()

    report = await archiver_env_v3.run()

    assert [document.id for document in archiver_env_v3.documents()] == [first.id]
    assert [document.id for document in archiver_env_v3.server.documents(is_trashed=True)] == [double]
    assert len(report.warnings) == 1
    assert archiver_env_v3.notifier.titles == ["P2 Muniment archiver: reports"]


async def test_a_second_document_that_a_person_tagged_is_not_put_away(archiver_env_v3: ArchiverEnvironment) -> None:
    await archiver_env_v3.put()
    await archiver_env_v3.run()
    [first] = archiver_env_v3.documents()
    tags = {thing["name"]: thing["id"] for thing in archiver_env_v3.server.objects("tags")}
    archiver_env_v3.server.put_document(a_pdf(), file_name="by hand.pdf", tags=[tags[name] for name in first.tags])
    await archiver_env_v3.put()

    await archiver_env_v3.run()

    assert len(archiver_env_v3.documents()) == 2
    assert await archiver_env_v3.waiting() == []


@pytest.mark.parametrize("is_own_first", [True, False])
async def test_a_report_of_a_duplicate_names_the_document_that_stays(
    archiver_env_v3: ArchiverEnvironment, is_own_first: bool
) -> None:
    key = await archiver_env_v3.put()
    async with open_archiver(archiver_env_v3.archiver()) as archiver:
        ids = await archiver.build_objects().resolve(await archiver_env_v3.sidecar(key))
        first, second = (archiver_env_v3.server.put_document(a_pdf(), tags=sorted(ids.tags)) for _ in range(2))
        own = first if is_own_first else second
        async with hold_lease(archiver_env_v3.stores.queue, archiver_env_v3.clock) as lease:
            context = archiver._build_context(lease, PassReport())
            await trash_own_duplicate(context, key, ids.identity_tags, own)

    trashed = [document.id for document in archiver_env_v3.server.documents(is_trashed=True)]
    assert trashed == ([] if is_own_first else [own])
    assert f"Kept {first}, see also {second} " in context.report.warnings[0]


async def test_our_own_duplicate_that_a_record_names_is_not_moved_to_the_trash(
    archiver_env_v3: ArchiverEnvironment,
) -> None:
    key = await archiver_env_v3.put()
    async with open_archiver(archiver_env_v3.archiver()) as archiver:
        ids = await archiver.build_objects().resolve(await archiver_env_v3.sidecar(key))
        first, own = (archiver_env_v3.server.put_document(a_pdf(), tags=sorted(ids.tags)) for _ in range(2))
        confirmed = {"paperless_doc_id": own, "paperless_doc_url": f"https://p/documents/{own}/"}
        await archiver_env_v3.office.patch(archiver_env_v3.office.kb_id, key.pdf, "archived", **confirmed)
        async with hold_lease(archiver_env_v3.stores.queue, archiver_env_v3.clock) as lease:
            context = archiver._build_context(lease, PassReport())
            await trash_own_duplicate(context, key, ids.identity_tags, own)

    assert archiver_env_v3.server.documents(is_trashed=True) == []
    assert f"Kept {own}, see also {first} " in context.report.warnings[0]


async def test_a_document_with_our_tags_but_other_bytes_proves_nothing(archiver_env: ArchiverEnvironment) -> None:
    key = await archiver_env.put("the document")
    async with open_archiver(archiver_env.archiver()) as archiver:
        ids = await archiver.build_objects().resolve(await archiver_env.sidecar(key))
    archiver_env.server.put_document(a_pdf("another"), tags=sorted(ids.tags))

    report = await archiver_env.run()

    assert report.actions == {"dead_letter": 1}
    assert archiver_env.rows()[key.pdf] == "failed"
    assert archiver_env.server.requests("upload") == []


@pytest.mark.parametrize("flaw", ["organization", "content"])
async def test_one_of_our_two_tags_is_not_enough(archiver_env_v3: ArchiverEnvironment, flaw: str) -> None:
    key = await archiver_env_v3.put()
    async with open_archiver(archiver_env_v3.archiver()) as archiver:
        ids = await archiver.build_objects().resolve(await archiver_env_v3.sidecar(key))
    tag = ids.content_tag if flaw == "organization" else ids.organization_tag
    archiver_env_v3.server.put_document(a_pdf("another"), tags=[tag])

    await archiver_env_v3.run()

    assert key.sha256 in {document.sha256 for document in archiver_env_v3.documents()}


async def test_a_rule_of_paperless_that_adds_a_tag_is_no_reason_to_doubt(archiver_env_v3: ArchiverEnvironment) -> None:
    archiver_env_v3.server.create_object("tags", "inbox", is_inbox_tag=True)
    await archiver_env_v3.put()

    report = await archiver_env_v3.run()

    assert report.actions == {"archived": 1}
    assert "inbox" in archiver_env_v3.documents()[0].tags
