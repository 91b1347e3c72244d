"""Rejected uploads: their status codes, and that nothing is left of them."""

import httpx
import pytest

from muniment.settings import Settings
from tests.documents.uploads import (
    BOUNDARY,
    FILE_HEAD,
    KB,
    a_form,
    a_pdf,
    connection,
    is_nothing_left,
    request_head,
    until,
    until_begun,
    upload,
    with_documents,
)
from tests.support.live_api import RunningApi, running_api
from tests.support.seed import Seed

MIB = 1024 * 1024
FORM_TYPE = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}


async def assert_refused(answer: httpx.Response, status: int, sentence: str, api: RunningApi, seed: Seed) -> None:
    assert answer.status_code == status
    detail = answer.json()["detail"]
    assert sentence in (detail[0]["msg"] if status == 422 else detail)
    assert await is_nothing_left(api, seed)


async def test_empty_file_is_refused(api: RunningApi, kb: KB, seed: Seed) -> None:
    await assert_refused(await kb.upload(b""), 422, "empty", api, seed)


@pytest.mark.parametrize("content", [b"MZ\x90\0" + bytes(100), b"\x7fELF" + bytes(200_000)], ids=["small", "large"])
async def test_unknown_type_is_refused_with_the_known_ones(api: RunningApi, kb: KB, seed: Seed, content: bytes) -> None:
    answer = await kb.upload(content, "invoice.pdf")

    await assert_refused(answer, 415, "Supported: PDF, DOCX, PPTX, XLSX, ODT", api, seed)


async def test_unknown_document_type_is_refused_with_the_known_ones(api: RunningApi, kb: KB, seed: Seed) -> None:
    answer = await kb.upload(document_type="love_letter")

    await assert_refused(answer, 422, "Supported: invoice, contract, care_plan", api, seed)


async def test_field_must_be_called_file(api: RunningApi, kb: KB, seed: Seed) -> None:
    answer = await kb.client.post(kb.path, files={"document": ("x.pdf", a_pdf())})

    await assert_refused(answer, 422, "`file`", api, seed)


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"no boundary at all" * 2000, FORM_TYPE),
        (FILE_HEAD + b"%PDF-1.7 and no end", FORM_TYPE),
        (FILE_HEAD[:40], FORM_TYPE),
        (b"", FORM_TYPE),
        (a_pdf(), {"Content-Type": "application/pdf"}),
        (a_pdf(), {"Content-Type": "multipart/form-data"}),
    ],
    ids=["no boundary", "no end", "no headers", "nothing", "no form", "no boundary announced"],
)
async def test_broken_form_is_refused(
    api: RunningApi, kb: KB, seed: Seed, body: bytes, headers: dict[str, str]
) -> None:
    answer = await kb.client.post(kb.path, content=body, headers=headers)

    assert answer.status_code in (400, 422)
    detail = answer.json()["detail"]
    assert isinstance(detail[0]["msg"] if answer.status_code == 422 else detail, str)
    assert await is_nothing_left(api, seed)


async def test_form_without_a_file_is_refused(api: RunningApi, kb: KB, seed: Seed) -> None:
    answer = await kb.client.post(kb.path, **a_form('form-data; name="file"', b"only text"))

    await assert_refused(answer, 422, "`file`", api, seed)


async def test_bad_uuid_is_refused(kb: KB) -> None:
    for path in ("/api/v1/knowledge-bases/42/documents", f"{kb.path}/42", f"{kb.path}/42/download"):
        assert (await kb.client.get(path)).status_code == 422
    answer = await kb.client.post("/api/v1/knowledge-bases/42/documents", files={"file": ("x.pdf", a_pdf())})
    assert answer.status_code == 422


async def test_largest_file_is_accepted_and_one_byte_more_is_not(settings: Settings, seed: Seed) -> None:
    owner, content = seed.person(), a_pdf()
    kb_id = seed.knowledge_base(owner)
    async with (
        running_api(with_documents(settings, max_upload_bytes=len(content))) as api,
        api.client(owner) as client,
    ):
        await assert_refused(await upload(client, kb_id, content + b"\n"), 413, f"{len(content)} bytes", api, seed)
        assert (await upload(client, kb_id, content)).status_code == 201


async def test_body_that_never_ends_is_refused_early(settings: Settings, seed: Seed) -> None:
    owner = seed.person()
    kb_id = seed.knowledge_base(owner)
    async with running_api(with_documents(settings, max_upload_bytes=2 * MIB)) as api, connection(api) as client:
        await client.send(request_head(kb_id, owner))
        await client.send_chunk(FILE_HEAD + b"%PDF-1.7\n")
        for _ in range(9):
            await client.send_chunk(bytes(MIB // 4))
        assert await client.status() == 413
        assert await is_nothing_left(api, seed)


@pytest.mark.parametrize("sent_bytes", [100, 3 * MIB], ids=["at once", "after a while"])
async def test_client_that_hangs_up_leaves_nothing(api: RunningApi, kb: KB, seed: Seed, sent_bytes: int) -> None:
    async with connection(api) as client:
        await client.send(request_head(kb.id, kb.owner, 10 * MIB))
        await client.send(FILE_HEAD + b"%PDF-1.7\n" + bytes(sent_bytes))
        await until_begun(seed)
    await until(lambda: is_nothing_left(api, seed))


async def test_disk_below_its_floor_stores_nothing(settings: Settings, seed: Seed) -> None:
    owner = seed.person()
    kb_id = seed.knowledge_base(owner)
    async with (
        running_api(with_documents(settings, disk_floor_bytes=2**60)) as api,
        api.client(owner) as client,
    ):
        await assert_refused(await upload(client, kb_id), 507, "Not enough storage space", api, seed)
