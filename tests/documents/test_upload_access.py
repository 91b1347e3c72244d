"""Who may upload, and what is checked before a byte of the body is read."""

import tracemalloc
from collections.abc import AsyncIterator

import pytest

from tests.documents.uploads import (
    END,
    FILE_HEAD,
    KB,
    a_pdf,
    connection,
    documents_path,
    is_nothing_left,
    request_head,
    until_begun,
    upload,
)
from tests.support.live_api import RunningApi
from tests.support.seed import Seed

MIB = 1024 * 1024
HUGE = 200 * MIB


@pytest.mark.parametrize(("role", "status"), [("editor", 201), ("viewer", 403)])
async def test_editors_upload_and_viewers_do_not(api: RunningApi, kb: KB, seed: Seed, role: str, status: int) -> None:
    member = seed.person(kb.owner.organization_id)
    seed.member(kb.id, member, role)
    async with api.client(member) as client:
        answer = await upload(client, kb.id)
    assert answer.status_code == status
    if status == 403:
        assert answer.json() == {"detail": "Permission denied"}


@pytest.mark.parametrize("is_colleague", [True, False], ids=["colleague", "of_another_organization"])
async def test_stranger_gets_404_not_403(api: RunningApi, kb: KB, seed: Seed, is_colleague: bool) -> None:
    stranger = seed.person(kb.owner.organization_id if is_colleague else None)
    async with api.client(stranger) as client:
        answer = await upload(client, kb.id)
    assert (answer.status_code, answer.json()) == (404, {"detail": "Knowledge base not found"})
    assert await is_nothing_left(api, seed)


async def test_without_credentials_the_body_is_not_waited_for(api: RunningApi, kb: KB) -> None:
    async with connection(api) as client:
        await client.send(request_head(kb.id, None, HUGE))
        assert await client.status() == 401


async def test_viewer_is_refused_before_the_body_is_sent(api: RunningApi, kb: KB, seed: Seed) -> None:
    viewer = seed.person(kb.owner.organization_id)
    seed.member(kb.id, viewer, "viewer")
    async with connection(api) as client:
        await client.send(request_head(kb.id, viewer, HUGE))
        assert await client.status() == 403


@pytest.mark.parametrize(("left_with", "status"), [("viewer", 403), (None, 404)])
async def test_right_that_is_taken_away_before_the_file_begins_is_gone(
    api: RunningApi, kb: KB, seed: Seed, left_with: str | None, status: int
) -> None:
    editor = seed.person(kb.owner.organization_id)
    seed.member(kb.id, editor, "editor")
    content = a_pdf()
    async with connection(api) as client:
        await client.send(request_head(kb.id, editor, len(FILE_HEAD + content + END), "Expect: 100-continue"))
        assert await client.status() == 100  # the body is requested: the sender has been authorized
        await client.reader.readline()
        seed.execute("DELETE FROM knowledge_base_members")
        if left_with:
            seed.member(kb.id, editor, left_with)
        await client.send(FILE_HEAD + content + END)
        assert await client.status() == status
    assert await is_nothing_left(api, seed)


@pytest.mark.parametrize(("left_with", "status"), [("viewer", 403), (None, 404)])
async def test_right_that_is_taken_away_in_mid_upload_is_gone(
    api: RunningApi, kb: KB, seed: Seed, left_with: str | None, status: int
) -> None:
    editor = seed.person(kb.owner.organization_id)
    seed.member(kb.id, editor, "editor")
    content = a_pdf()
    async with connection(api) as client:
        await client.send(request_head(kb.id, editor, len(FILE_HEAD + content + END)))
        await client.send(FILE_HEAD + content[:50])
        await until_begun(seed)
        seed.execute("DELETE FROM knowledge_base_members")
        if left_with:
            seed.member(kb.id, editor, left_with)
        await client.send(content[50:] + END)
        assert await client.status() == status
    assert await is_nothing_left(api, seed)


async def test_memory_does_not_grow_with_the_file(kb: KB) -> None:
    await kb.upload(name="warm up.pdf")
    tracemalloc.start()
    try:
        answer = await kb.client.post(
            documents_path(kb.id),
            content=_large_form(64),
            headers={"Content-Type": "multipart/form-data; boundary=boundary-of-the-tests"},
        )
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (answer.status_code, answer.json()["file_size"]) == (201, 64 * MIB + len(b"%PDF-1.7\n"))
    assert peak_bytes < 16 * MIB


async def _large_form(mebibytes: int) -> AsyncIterator[bytes]:
    yield FILE_HEAD + b"%PDF-1.7\n"
    piece = bytes(MIB // 4)
    for _ in range(4 * mebibytes):
        yield piece
    yield END
