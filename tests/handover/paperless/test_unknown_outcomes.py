"""After every unknown outcome, a lookup finds out what happened."""

from dataclasses import replace
from uuid import uuid4

import pytest

from muniment.handover.paperless.client import PaperlessClient
from muniment.handover.paperless.errors import OutcomeUnknown, PaperlessKind, PaperlessMisconfigured
from muniment.handover.paperless.transport import Timeouts
from tests.handover.paperless.uploads import UploadTarget, a_name
from tests.support.fake_paperless import faults
from tests.support.fake_paperless.fake import FakePaperless
from tests.support.fake_paperless.faults import Fault
from tests.support.fake_paperless.users import COLLEAGUE

DONE = [
    faults.server_error(is_applied=True),
    faults.lost_answer(),
    faults.cut_off(),
    faults.truncated_json(),
    faults.html_with_200(is_applied=True),
    *(faults.empty_success(body) for body in ("null", "{}", "[]", '""', "17", '"no uuid"', "")),
]
NOT_DONE = [faults.server_error(), faults.dropped(), faults.html_with_200()]


def _pdf(name: str) -> bytes:
    return f"%PDF-1.7 {name} %%EOF".encode()


@pytest.mark.parametrize("fault", DONE)
async def test_an_upload_that_arrived_unseen_is_found_by_name_bytes_task_and_tags(
    server: FakePaperless, fake_upload_target: UploadTarget, fault: Fault
) -> None:
    name = f"{uuid4()}.pdf"
    server.fault("upload", fault)
    with pytest.raises(OutcomeUnknown):
        await fake_upload_target.send(_pdf(name), file_name=name)
    [document] = await fake_upload_target.paperless.find_by_file_name(name)
    assert [found.id for found in await fake_upload_target.paperless.find_by_checksum(_pdf(name))] == [document.id]
    assert [task.document_id for task in await fake_upload_target.paperless.list_tasks_by_file_name(name)] == [
        document.id
    ]
    assert [found.id for found in await fake_upload_target.paperless.find_tagged(fake_upload_target.tags)] == [
        document.id
    ]


@pytest.mark.parametrize("fault", NOT_DONE)
async def test_an_upload_that_did_not_arrive_is_nowhere(
    server: FakePaperless, fake_upload_target: UploadTarget, fault: Fault
) -> None:
    name = f"{uuid4()}.pdf"
    server.fault("upload", fault)
    with pytest.raises(OutcomeUnknown):
        await fake_upload_target.send(_pdf(name), file_name=name)
    assert await fake_upload_target.paperless.find_by_file_name(name) == []
    assert await fake_upload_target.paperless.list_tasks_by_file_name(name) == []


async def test_an_upload_that_we_gave_up_waiting_for_is_there_all_the_same(
    server: FakePaperless, fake_upload_target: UploadTarget
) -> None:
    name = f"{uuid4()}.pdf"
    server.fault("upload", faults.hanging(is_applied=True))
    async with PaperlessClient(server.url, server.token, timeouts=Timeouts(upload_seconds=0.3)) as impatient:
        with pytest.raises(OutcomeUnknown):
            await replace(fake_upload_target, paperless=impatient).send(_pdf(name), file_name=name)
    assert len(await fake_upload_target.paperless.find_by_file_name(name)) == 1


async def test_no_call_repeats_itself(server: FakePaperless, fake_upload_target: UploadTarget) -> None:
    server.fault("*", faults.server_error(), times=None, skip=1)
    await fake_upload_target.paperless.version()
    with pytest.raises(OutcomeUnknown):
        await fake_upload_target.send(_pdf("once"))
    with pytest.raises(OutcomeUnknown):
        await fake_upload_target.paperless.find_tagged(fake_upload_target.tags)
    assert len(server.requests("upload")) == 1
    assert len(server.requests("documents.list")) == 2


@pytest.mark.parametrize("kind", list(PaperlessKind))
@pytest.mark.parametrize("fault", DONE[:5])
async def test_what_was_made_in_spite_of_an_error_is_found(
    server: FakePaperless, client: PaperlessClient, kind: PaperlessKind, fault: Fault
) -> None:
    name = a_name()
    server.fault(f"{kind}.make", fault)
    made = await client.get_or_create(kind, name)
    assert [thing["id"] for thing in server.objects(kind) if thing["name"] == name] == [made]


async def test_what_could_not_be_made_is_unclear(server: FakePaperless, client: PaperlessClient) -> None:
    server.fault("tags.make", faults.server_error())
    with pytest.raises(OutcomeUnknown):
        await client.get_or_create(PaperlessKind.TAG, a_name())


async def test_without_redis_things_are_made_changed_and_tagged_but_uploads_fail(
    server: FakePaperless, fake_upload_target: UploadTarget
) -> None:
    document = server.put_document(b"%PDF- by hand")
    server.set(redis=False)
    assert await fake_upload_target.paperless.get_or_create(PaperlessKind.TAG, a_name()) is not None
    with pytest.raises(OutcomeUnknown):
        await fake_upload_target.paperless.add_tags(document, fake_upload_target.tags)
    with pytest.raises(OutcomeUnknown):
        await fake_upload_target.paperless.fill_missing_metadata(
            document, correspondent=fake_upload_target.correspondent
        )
    with pytest.raises(OutcomeUnknown):
        await fake_upload_target.send(_pdf("without redis"))
    found = await fake_upload_target.paperless.find_document(document)
    assert found is not None
    assert found.tags.issuperset(fake_upload_target.tags)
    assert found.correspondent == fake_upload_target.correspondent


async def test_a_name_that_is_refused_but_not_shown_stops_the_line(
    server: FakePaperless, client: PaperlessClient
) -> None:
    server.fault("tags.make", faults.refused(400, '{"name":["tag with this name already exists."]}'))
    with pytest.raises(PaperlessMisconfigured, match="could not create"):
        await client.get_or_create(PaperlessKind.TAG, a_name())


async def test_a_name_of_somebody_elses_is_made_again_and_our_own_is_taken(
    server: FakePaperless, client: PaperlessClient
) -> None:
    name = a_name()
    theirs = server.create_object("tags", name, owner=COLLEAGUE)
    ours = await client.get_or_create(PaperlessKind.TAG, name)
    assert ours != theirs
    async with PaperlessClient(server.url, "a" * 40) as superuser:
        assert await superuser.find_id(PaperlessKind.TAG, name) == theirs
    everybodys = server.create_object("tags", f"{name}-shared", owner=None)
    assert await client.get_or_create(PaperlessKind.TAG, f"{name}-shared") == everybodys
