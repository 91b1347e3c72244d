"""Ignored filters and misleading links in lists."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from muniment.handover.paperless.client import PaperlessClient
from muniment.handover.paperless.errors import OutcomeUnknown, PaperlessKind, PaperlessMisconfigured
from tests.handover.paperless.uploads import UploadTarget, a_name
from tests.support.fake_paperless.fake import FakePaperless
from tests.support.fake_paperless.faults import Fault


def _page(*rows: dict[str, Any], count: int | None = None, following: str | None = None) -> Fault:
    body = {"count": len(rows) if count is None else count, "next": following, "previous": None, "results": rows}
    return Fault(200, json.dumps(body))


def _row(key: int, **changes: Any) -> dict[str, Any]:
    row = {"id": key, "title": "t", "tags": [], "correspondent": None, "document_type": None, "custom_fields": []}
    return {**row, "original_file_name": "of another.pdf", "created": "2026-05-08", "deleted_at": None, **changes}


async def test_documents_without_our_tags_are_never_taken_for_ours(
    server: FakePaperless, fake_upload_target: UploadTarget
) -> None:
    server.fault("documents.list", _page(_row(1), _row(2, tags=fake_upload_target.tags)))
    with pytest.raises(PaperlessMisconfigured, match="ignored the"):
        await fake_upload_target.paperless.find_tagged(fake_upload_target.tags)


async def test_a_list_of_everything_is_not_walked_through(
    server: FakePaperless, fake_upload_target: UploadTarget
) -> None:
    await fake_upload_target.paperless.version()
    rows = [_row(key, tags=fake_upload_target.tags) for key in range(25)]
    finds: list[Callable[[], Awaitable[Any]]] = [
        lambda: fake_upload_target.paperless.find_tagged(fake_upload_target.tags),
        lambda: fake_upload_target.paperless.find_by_checksum(b"%PDF- somewhere"),
        lambda: fake_upload_target.paperless.find_by_file_name("ours.pdf"),
    ]
    for find in finds:
        server.clear_requests()
        server.fault("documents.list", _page(*rows, count=5000, following=f"{server.url}/api/documents/?page=2"))
        with pytest.raises(PaperlessMisconfigured, match="ignored the"):
            await find()
        assert len(server.requests()) == 1


async def test_other_bytes_and_other_names_in_the_answer_are_not_believed(
    server: FakePaperless, fake_upload_target: UploadTarget
) -> None:
    others = server.put_document(b"%PDF- of somebody", file_name="of another.pdf")
    for find in (
        fake_upload_target.paperless.find_by_checksum(b"%PDF- ours"),
        fake_upload_target.paperless.find_by_file_name("ours.pdf"),
    ):
        await fake_upload_target.paperless.version()
        server.fault("documents.list", _page(_row(others)))
        assert await find == []


async def test_other_names_in_the_answer_are_not_believed(server: FakePaperless, client: PaperlessClient) -> None:
    server.fault("tags.list", _page({"id": 7, "name": "something else", "user_can_change": True}))
    assert await client.find_id(PaperlessKind.TAG, a_name()) is None


async def test_another_task_in_the_answer_is_not_believed(
    server: FakePaperless, fake_upload_target: UploadTarget
) -> None:
    await fake_upload_target.send(b"%PDF- of a task %%EOF")
    [row] = [task for task in server.tasks() if task.file_name.endswith(".pdf")][-1:]
    shown = {"id": 1, "task_id": row.task_id, "task_name": "consume_file", "task_file_name": row.file_name}
    shown |= {"status": "SUCCESS", "result": "x", "related_document": "7"}
    server.fault("tasks.list", Fault(200, json.dumps([shown])))
    assert await fake_upload_target.paperless.find_task("11111111-1111-1111-1111-111111111111") is None


@pytest.mark.parametrize("host", ["paperless.invalid:9", "paperless.invalid/behind/a/proxy"])
async def test_of_absolute_links_only_path_and_query_are_followed(
    server: FakePaperless, client: PaperlessClient, host: str
) -> None:
    trashed = {server.put_document(b"%PDF-" + bytes([number]), is_trashed=True) for number in range(60)}
    server.set(host=host)
    found = [document.id async for document in client.iter_trash()]
    assert trashed.issubset(found)
    assert len(found) == len(set(found))


async def test_a_list_that_leads_back_to_itself_is_left(server: FakePaperless, client: PaperlessClient) -> None:
    server.fault("trash.list", _page(_row(1), following=f"{server.url}/api/trash/?page=1"), times=None)
    with pytest.raises(OutcomeUnknown, match="links to itself"):
        [document async for document in client.iter_trash()]


async def test_a_list_that_became_shorter_is_unclear_and_stops_nothing(
    server: FakePaperless, client: PaperlessClient
) -> None:
    server.fault("trash.list", _page(_row(1), following=f"{server.url}/api/trash/?page=2"))
    server.fault("trash.list", Fault(404, '{"detail":"Invalid page."}'))
    with pytest.raises(OutcomeUnknown):
        [document async for document in client.iter_trash()]


@pytest.mark.parametrize("body", ["[]", "{}", "null", '{"count":1,"next":null,"results":[{}]}', '"text"', "7"])
async def test_an_answer_in_another_shape_is_unclear(
    server: FakePaperless, fake_upload_target: UploadTarget, body: str
) -> None:
    await fake_upload_target.paperless.version()
    questions: dict[str, Callable[[], Awaitable[Any]]] = {
        "documents.list": lambda: fake_upload_target.paperless.find_tagged(fake_upload_target.tags),
        "tags.list": lambda: fake_upload_target.paperless.find_id(PaperlessKind.TAG, "x"),
        "documents.get": lambda: fake_upload_target.paperless.find_document(1),
        "documents.metadata": lambda: fake_upload_target.paperless.get_checksum(1),
    }
    for name, ask in questions.items():
        server.fault(name, Fault(200, body))
        with pytest.raises(OutcomeUnknown):
            await ask()
    if body != "[]":
        server.fault("tasks.list", Fault(200, body))
        with pytest.raises(OutcomeUnknown):
            await fake_upload_target.paperless.find_task("11111111-1111-1111-1111-111111111111")
