"""Several files in one request: each has its own result, and a refused one stops no other."""

from typing import Any

import httpx
import pytest

from muniment.settings import Settings
from tests.documents.uploads import (
    BOUNDARY,
    END,
    FILE_HEAD,
    KB,
    a_pdf,
    connection,
    documents_path,
    is_nothing_left,
    request_head,
    stored_keys,
    temporary_files,
    until,
    with_documents,
)
from tests.support.live_api import RunningApi, running_api
from tests.support.seed import Seed

EXECUTABLE = b"\x7fELF" + bytes(200_000)
MIB = 1024 * 1024


async def send(client: httpx.AsyncClient, path: str, *files: tuple[str, bytes], **fields: str) -> httpx.Response:
    return await client.post(path, files=[("file", file) for file in files], data=fields)


def results(answer: httpx.Response) -> list[dict[str, Any]]:
    assert answer.status_code == 207, answer.text
    found: list[dict[str, Any]] = answer.json()["results"]
    return found


def statuses(answer: httpx.Response) -> list[tuple[str, int]]:
    return [(result["name"], result["status"]) for result in results(answer)]


def a_part(name: str, content: bytes) -> bytes:
    return FILE_HEAD.replace(b"report.pdf", name.encode()) + content + b"\r\n"


def a_body(*parts: bytes) -> bytes:
    return b"".join(parts) + END.removeprefix(b"\r\n")


async def test_each_file_is_answered_as_if_it_had_been_sent_alone(kb: KB) -> None:
    old = (await kb.upload(a_pdf("old"), "taken.pdf")).json()
    files = [
        ("a.pdf", a_pdf("a")),
        ("taken.pdf", a_pdf("b")),
        ("c.pdf", EXECUTABLE),
        ("d.pdf", b""),
        ("e.pdf", a_pdf()),
    ]

    answer = await send(kb.client, kb.path, *files, document_type="invoice")

    assert [status for _, status in statuses(answer)] == [201, 409, 415, 422, 201]
    first, duplicate, unsupported, empty, last = results(answer)
    assert first["body"] | {"document_type": "invoice"} == (
        await kb.client.get(f"{kb.path}/{first['body']['id']}")
    ).json() | {
        **dict.fromkeys(("uploaded_by_email", "passages", "passages_embedded")),
        "status": first["body"]["status"],
        "updated_at": first["body"]["updated_at"],
    }
    assert duplicate["body"]["existing_document_id"] == old["id"]
    for result, (name, content) in ((duplicate, files[1]), (unsupported, files[2]), (empty, files[3])):
        alone = await kb.upload(content, name)
        assert (alone.status_code, alone.json()) == (result["status"], result["body"])
    assert last["body"]["name"] == "e.pdf"


@pytest.mark.parametrize("refused", [EXECUTABLE, b"", a_pdf()], ids=["unsupported", "empty", "duplicate"])
async def test_refused_first_file_stops_no_other(kb: KB, refused: bytes) -> None:
    await kb.upload(a_pdf(), "taken.pdf")

    answer = await send(kb.client, kb.path, ("taken.pdf", refused), ("b.pdf", a_pdf()))

    assert [status < 300 for _, status in statuses(answer)] == [False, True]


async def test_two_files_of_one_name_are_a_document_and_a_duplicate(kb: KB) -> None:
    answer = await send(kb.client, kb.path, ("a.pdf", a_pdf("1")), ("A.PDF", a_pdf("2")))

    assert statuses(answer) == [("a.pdf", 201), ("A.PDF", 409)]
    assert results(answer)[1]["body"]["existing_document_id"] == results(answer)[0]["body"]["id"]


async def test_file_in_another_field_and_invalid_names_stop_no_other(kb: KB) -> None:
    files = [("file", ("..", a_pdf())), ("document", ("b.pdf", a_pdf())), ("file", ("c.pdf", a_pdf()))]

    assert [status for _, status in statuses(await kb.client.post(kb.path, files=files))] == [422, 422, 201]


async def test_fields_between_the_first_two_files_apply_to_all(kb: KB) -> None:
    field = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="document_type"\r\n\r\ninvoice\r\n'.encode()
    body = a_body(a_part("a.pdf", a_pdf("a")), field, a_part("b.pdf", a_pdf("b")))

    answer = await kb.client.post(
        kb.path, content=body, headers={"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    )

    assert [result["body"]["document_type"] for result in results(answer)] == ["invoice", "invoice"]


async def test_field_after_the_second_file_is_refused(kb: KB, seed: Seed) -> None:
    field = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="document_type"\r\n\r\ninvoice\r\n'.encode()
    body = a_body(a_part("a.pdf", a_pdf("a")), a_part("b.pdf", a_pdf("b")), field, a_part("c.pdf", a_pdf("c")))

    answer = await kb.client.post(
        kb.path, content=body, headers={"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    )

    assert statuses(answer) == [("a.pdf", 201), ("b.pdf", 422)]
    assert "in front of its files" in results(answer)[1]["body"]["detail"][0]["msg"]
    assert seed.one("SELECT count(*) FROM documents") == 1


async def test_body_that_ends_in_the_second_file_keeps_the_first(api: RunningApi, kb: KB, seed: Seed) -> None:
    body = a_part("a.pdf", a_pdf("a")) + FILE_HEAD + b"%PDF-1.7 and no end"

    answer = await kb.client.post(
        kb.path, content=body, headers={"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    )

    assert [status for _, status in statuses(answer)] == [201, 422]
    assert seed.one("SELECT count(*) FROM uploads") == 0
    assert len(await stored_keys(api)) == 1


async def test_client_that_hangs_up_in_the_second_file_leaves_the_first(api: RunningApi, kb: KB, seed: Seed) -> None:
    async with connection(api) as client:
        await client.send(request_head(kb.id, kb.owner, 10 * MIB))
        await client.send(a_part("a.pdf", a_pdf("a")) + FILE_HEAD + b"%PDF-1.7\n" + bytes(3 * MIB))

        async def is_second_begun() -> bool:
            return bool(seed.one("SELECT (SELECT count(*) FROM documents) * (SELECT count(*) FROM uploads)"))

        await until(is_second_begun)

    async def is_only_first_left() -> bool:
        rows = seed.one(
            "SELECT (SELECT count(*) FROM uploads) + (SELECT count(*) FROM deletions WHERE done_at IS NULL)"
        )
        return rows == 0 and len(await stored_keys(api)) == 1 and not temporary_files(api)

    await until(is_only_first_left)
    assert seed.one("SELECT count(*) FROM documents") == 1


async def test_more_files_than_allowed_are_refused(settings: Settings, seed: Seed) -> None:
    owner = seed.person()
    path = documents_path(seed.knowledge_base(owner))
    async with running_api(with_documents(settings, max_request_files=2)) as api, api.client(owner) as client:
        answer = await send(client, path, *((f"{number}.pdf", a_pdf(str(number))) for number in range(4)))

    assert [status for _, status in statuses(answer)] == [201, 201, 413]
    assert "at most 2 files" in results(answer)[2]["body"]["detail"]


async def test_files_that_announce_too_many_bytes_together_are_refused_as_a_whole(
    settings: Settings, seed: Seed
) -> None:
    owner = seed.person()
    path = documents_path(seed.knowledge_base(owner))
    async with running_api(with_documents(settings, max_request_bytes=3000)) as api, api.client(owner) as client:
        answer = await send(client, path, ("a.pdf", a_pdf("a")), ("b.pdf", a_pdf("b")), ("c.pdf", a_pdf("c")))

        assert (answer.status_code, "3000 bytes together" in answer.text) == (413, True)
        assert await is_nothing_left(api, seed)
        assert (await send(client, path, ("a.pdf", a_pdf() + bytes(4000)))).status_code == 201


async def test_files_that_are_too_large_together_without_announcing_it_are_refused_from_there(
    settings: Settings, seed: Seed
) -> None:
    owner = seed.person()
    path = documents_path(seed.knowledge_base(owner))

    async def body() -> Any:
        yield a_body(*(a_part(f"{number}.pdf", a_pdf(str(number))) for number in range(4)))

    async with running_api(with_documents(settings, max_request_bytes=3000)) as api, api.client(owner) as client:
        headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
        answer = await client.post(path, content=body(), headers=headers)

    assert [status for _, status in statuses(answer)] == [201, 201, 413]
    assert seed.one("SELECT count(*) FROM documents") == 2


async def test_too_large_file_stops_no_other(settings: Settings, seed: Seed) -> None:
    owner, content = seed.person(), a_pdf()
    path = documents_path(seed.knowledge_base(owner))
    async with (
        running_api(with_documents(settings, max_upload_bytes=len(content))) as api,
        api.client(owner) as client,
    ):
        answer = await send(client, path, ("a.pdf", content + bytes(MIB)), ("b.pdf", content))

    assert statuses(answer) == [("a.pdf", 413), ("b.pdf", 201)]


async def test_quota_is_checked_before_each_file(settings: Settings, seed: Seed) -> None:
    owner = seed.person()
    path = documents_path(seed.knowledge_base(owner))
    limited = settings.model_copy(update={"quotas": settings.quotas.model_copy(update={"max_documents": 2})})
    async with running_api(limited) as api, api.client(owner) as client:
        answer = await send(client, path, *((f"{number}.pdf", a_pdf(str(number))) for number in range(3)))
        assert [status for _, status in statuses(answer)] == [201, 201, 507]
        assert results(answer)[2]["body"]["code"] == "quota_exceeded"
        whole = await send(client, path, ("a.pdf", a_pdf("a")), ("b.pdf", a_pdf("b")))

    assert (whole.status_code, whole.json()["code"]) == (507, "quota_exceeded")


async def test_full_queue_says_when_to_try_again(settings: Settings, seed: Seed) -> None:
    owner = seed.person()
    path = documents_path(seed.knowledge_base(owner))
    limited = settings.model_copy(update={"quotas": settings.quotas.model_copy(update={"max_queued_runs": 1})})
    async with running_api(limited) as api, api.client(owner) as client:
        answer = await send(client, path, ("a.pdf", a_pdf("a")), ("b.pdf", a_pdf("b")))

    assert statuses(answer) == [("a.pdf", 201), ("b.pdf", 429)]
    assert answer.headers["Retry-After"] == "10"
