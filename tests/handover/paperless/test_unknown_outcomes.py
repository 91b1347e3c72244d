"""After every unclear outcome the truth can be found by looking."""

from dataclasses import replace
from uuid import uuid4

import pytest

from muniment.handover.paperless.client import Paperless
from muniment.handover.paperless.errors import Kind, LineStopped, Unclear
from muniment.handover.paperless.transport import Timeouts
from tests.handover.paperless.uploads import Archive, a_name
from tests.support.fake_paperless import faults
from tests.support.fake_paperless.fake import StandIn
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
    server: StandIn, shelf: Archive, fault: Fault
) -> None:
    name = f"{uuid4()}.pdf"
    server.fault("upload", fault)
    with pytest.raises(Unclear):
        await shelf.send(_pdf(name), file_name=name)
    [document] = await shelf.paperless.find_by_file_name(name)
    assert [found.id for found in await shelf.paperless.find_by_checksum(_pdf(name))] == [document.id]
    assert [task.document_id for task in await shelf.paperless.tasks_of_file(name)] == [document.id]
    assert [found.id for found in await shelf.paperless.find_tagged(shelf.tags)] == [document.id]


@pytest.mark.parametrize("fault", NOT_DONE)
async def test_an_upload_that_did_not_arrive_is_nowhere(server: StandIn, shelf: Archive, fault: Fault) -> None:
    name = f"{uuid4()}.pdf"
    server.fault("upload", fault)
    with pytest.raises(Unclear):
        await shelf.send(_pdf(name), file_name=name)
    assert await shelf.paperless.find_by_file_name(name) == []
    assert await shelf.paperless.tasks_of_file(name) == []


async def test_an_upload_that_we_gave_up_waiting_for_is_there_all_the_same(server: StandIn, shelf: Archive) -> None:
    name = f"{uuid4()}.pdf"
    server.fault("upload", faults.hanging(is_applied=True))
    async with Paperless(server.url, server.token, timeouts=Timeouts(upload_seconds=0.3)) as impatient:
        with pytest.raises(Unclear):
            await replace(shelf, paperless=impatient).send(_pdf(name), file_name=name)
    assert len(await shelf.paperless.find_by_file_name(name)) == 1


async def test_no_call_repeats_itself(server: StandIn, shelf: Archive) -> None:
    server.fault("*", faults.server_error(), times=None, skip=1)
    await shelf.paperless.version()
    with pytest.raises(Unclear):
        await shelf.send(_pdf("once"))
    with pytest.raises(Unclear):
        await shelf.paperless.find_tagged(shelf.tags)
    assert len(server.requests("upload")) == 1
    assert len(server.requests("documents.list")) == 2


@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("fault", DONE[:5])
async def test_what_was_made_in_spite_of_an_error_is_found(
    server: StandIn, client: Paperless, kind: Kind, fault: Fault
) -> None:
    name = a_name()
    server.fault(f"{kind}.make", fault)
    made = await client.find_or_make(kind, name)
    assert [thing["id"] for thing in server.things(kind) if thing["name"] == name] == [made]


async def test_what_could_not_be_made_is_unclear(server: StandIn, client: Paperless) -> None:
    server.fault("tags.make", faults.server_error())
    with pytest.raises(Unclear):
        await client.find_or_make(Kind.TAG, a_name())


async def test_without_redis_things_are_made_changed_and_tagged_but_uploads_fail(
    server: StandIn, shelf: Archive
) -> None:
    document = server.put_document(b"%PDF- by hand")
    server.set(redis=False)
    assert await shelf.paperless.find_or_make(Kind.TAG, a_name()) is not None
    with pytest.raises(Unclear):
        await shelf.paperless.add_tags(document, shelf.tags)
    with pytest.raises(Unclear):
        await shelf.paperless.set_where_empty(document, correspondent=shelf.correspondent)
    with pytest.raises(Unclear):
        await shelf.send(_pdf("without redis"))
    found = await shelf.paperless.document(document)
    assert found is not None
    assert found.tags.issuperset(shelf.tags)
    assert found.correspondent == shelf.correspondent


async def test_a_name_that_is_refused_but_not_shown_stops_the_line(server: StandIn, client: Paperless) -> None:
    server.fault("tags.make", faults.refused(400, '{"name":["tag with this name already exists."]}'))
    with pytest.raises(LineStopped, match="could not create"):
        await client.find_or_make(Kind.TAG, a_name())


async def test_a_name_of_somebody_elses_is_made_again_and_our_own_is_taken(server: StandIn, client: Paperless) -> None:
    name = a_name()
    theirs = server.make("tags", name, owner=COLLEAGUE)
    ours = await client.find_or_make(Kind.TAG, name)
    assert ours != theirs
    async with Paperless(server.url, "a" * 40) as superuser:
        assert await superuser.find(Kind.TAG, name) == theirs
    everybodys = server.make("tags", f"{name}-shared", owner=None)
    assert await client.find_or_make(Kind.TAG, f"{name}-shared") == everybodys
