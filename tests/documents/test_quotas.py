"""Quotas of an organization: bytes, documents and queued runs."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from muniment.documents.quotas import lock_name
from muniment.settings import Settings
from tests.documents.uploads import (
    END,
    FILE_HEAD,
    KB,
    a_pdf,
    connection,
    is_nothing_left,
    request_head,
    stored_keys,
    until,
    upload,
)
from tests.support.live_api import RunningApi, running_api
from tests.support.seed import Person, Seed

HUGE = 50 * 1024 * 1024
SIZE = len(a_pdf("0"))
USED = "SELECT coalesce(sum(file_size), 0)::bigint FROM document_revisions"


@asynccontextmanager
async def limited(settings: Settings, seed: Seed, **quotas: int) -> AsyncIterator[tuple[RunningApi, KB]]:
    """A knowledge base of an API with these quotas."""
    changed = settings.model_copy(update={"quotas": settings.quotas.model_copy(update=quotas)})
    owner = seed.person(is_admin=True)
    async with running_api(changed) as api, api.client(owner) as client:
        yield api, KB(seed.knowledge_base(owner), owner, client)


def assert_over_quota(answer: httpx.Response, words: str) -> None:
    body = answer.json()
    assert (answer.status_code, body["code"]) == (507, "quota_exceeded"), answer.text
    assert words in body["detail"]


async def get_usage(kb: KB) -> dict[str, Any]:
    answer = await kb.client.get(f"/api/v1/organizations/{kb.owner.organization_id}/usage")
    assert answer.status_code == 200, answer.text
    usage: dict[str, Any] = answer.json()
    return usage


async def replace(kb: KB, document_id: str, content: bytes) -> httpx.Response:
    return await kb.client.post(f"{kb.path}/{document_id}/replace", files={"file": ("new.pdf", content)})


def complete(seed: Seed, document_id: str) -> None:
    """Complete the document as a worker does, without the other results."""
    seed.execute("UPDATE documents SET status = 'completed', completed_at = now() WHERE id = %s", document_id)
    seed.execute("UPDATE document_processing_runs SET status = 'completed' WHERE document_id = %s", document_id)
    seed.execute(
        "DELETE FROM document_revisions r USING documents d WHERE d.id = r.document_id AND d.revision > r.revision"
    )


async def test_no_more_documents_than_the_quota(settings: Settings, seed: Seed) -> None:
    async with limited(settings, seed, max_documents=1) as (api, kb):
        assert (await kb.upload(name="a.pdf")).status_code == 201
        assert_over_quota(await kb.upload(name="b.pdf"), "quota of 1 document")
        assert len(await stored_keys(api)) == 1
    assert seed.one("SELECT count(*) FROM documents") == 1


async def test_no_more_bytes_than_the_quota(settings: Settings, seed: Seed) -> None:
    async with limited(settings, seed, max_bytes=2 * SIZE + SIZE // 2) as (api, kb):
        answers = [(await kb.upload(a_pdf(str(number)), f"{number}.pdf")) for number in range(3)]
        assert [answer.status_code for answer in answers] == [201, 201, 507]
        assert_over_quota(answers[2], "quota of ")
        assert len(await stored_keys(api)) == 2
        assert seed.one("SELECT count(*) FROM uploads") == 0


async def test_documents_of_all_members_and_archived_and_failed_ones_count(settings: Settings, seed: Seed) -> None:
    async with limited(settings, seed, max_documents=2) as (api, kb):
        colleague = seed.person(kb.owner.organization_id)
        hidden = seed.knowledge_base(colleague)
        seed.document(hidden, colleague, status="archived")
        seed.document(hidden, colleague, name="b.pdf", status="failed")
        assert_over_quota(await kb.upload(), "documents")
        stranger = seed.person()
        async with api.client(stranger) as client:
            assert (await upload(client, seed.knowledge_base(stranger))).status_code == 201


@pytest.mark.parametrize("quota", ["max_bytes", "max_documents"])
async def test_body_is_not_read_when_nothing_fits(settings: Settings, seed: Seed, quota: str) -> None:
    async with limited(settings, seed, **{quota: 1}) as (api, kb):
        seed.document(kb.id, kb.owner)
        async with connection(api) as client:
            await client.send(request_head(kb.id, kb.owner, HUGE))
            assert await client.status() == 507


async def test_upload_ends_as_soon_as_it_is_larger_than_what_is_left(settings: Settings, seed: Seed) -> None:
    async with limited(settings, seed, max_bytes=100_000) as (api, kb):
        async with connection(api) as client:
            await client.send(request_head(kb.id, kb.owner, HUGE))
            await client.send(FILE_HEAD + a_pdf() + bytes(200_000))
            assert await client.status() == 507

        async def is_clean() -> bool:
            return await is_nothing_left(api, seed)

        await until(is_clean)


async def send_first_half(api: RunningApi, kb: KB, number: int, going_on: asyncio.Event) -> int:
    """Upload a file whose second half is sent when all others have begun too."""
    head = FILE_HEAD.replace(b"report", str(number).encode())
    content = a_pdf(str(number))
    async with connection(api) as client:
        await client.send(request_head(kb.id, kb.owner, len(head + content + END)))
        await client.send(head + content[:100])
        await going_on.wait()
        await client.send(content[100:] + END)
        return await client.status()


@pytest.mark.parametrize(
    ("quotas", "refused"),
    [({"max_documents": 3}, 507), ({"max_bytes": 3 * SIZE}, 507), ({"max_queued_runs": 3}, 429)],
    ids=["documents", "bytes", "queued runs"],
)
async def test_concurrent_uploads_do_not_exceed_a_quota_together(
    settings: Settings, seed: Seed, quotas: dict[str, int], refused: int
) -> None:
    assert len({len(a_pdf(str(number))) for number in range(8)}) == 1
    async with limited(settings, seed, **quotas) as (api, kb):
        going_on = asyncio.Event()
        sending = [asyncio.create_task(send_first_half(api, kb, number, going_on)) for number in range(8)]

        async def have_all_begun() -> bool:
            return bool(seed.one("SELECT count(*) = 8 FROM uploads"))

        await until(have_all_begun)
        going_on.set()
        assert sorted(await asyncio.gather(*sending)) == [201] * 3 + [refused] * 5
        assert seed.one("SELECT count(*) FROM documents") == 3
        assert len(await stored_keys(api)) == 3


async def test_uploads_and_replacements_of_the_same_names_do_not_deadlock(settings: Settings, seed: Seed) -> None:
    async with limited(settings, seed, max_documents=100, max_bytes=HUGE, max_queued_runs=100) as (_, kb):
        documents = [str(seed.document(kb.id, kb.owner, name=f"{number}.pdf")) for number in range(4)]
        for number in range(4):
            seed.document(kb.id, kb.owner, name=f"failed {number}.pdf", status="failed")
        uploads = [kb.upload(name=f"failed {number % 4}.pdf") for number in range(8)]
        replacements = [replace(kb, document_id, a_pdf()) for document_id in documents]
        answers = await asyncio.gather(*uploads, *replacements)
        # Four names were free, and `new.pdf` is the name of one replacement.
        assert sorted(answer.status_code for answer in answers) == [200] + [201] * 4 + [409] * 7


async def test_full_queue_answers_429_until_there_is_room(settings: Settings, seed: Seed) -> None:
    async with limited(settings, seed, max_queued_runs=1) as (api, kb):
        assert (await kb.upload(name="a.pdf")).status_code == 201
        refused = await kb.upload(name="b.pdf")
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "10")
        assert refused.json()["code"] == "too_many_queued_runs"
        assert "waiting to be processed" in refused.json()["detail"]
        async with connection(api) as client:
            await client.send(request_head(kb.id, kb.owner, HUGE))
            assert await client.status() == 429
        seed.execute("UPDATE document_processing_runs SET status = 'in_progress'")
        assert (await kb.upload(name="b.pdf")).status_code == 201


async def test_retry_waits_for_room_in_the_queue(settings: Settings, seed: Seed) -> None:
    async with limited(settings, seed, max_queued_runs=1) as (_, kb):
        failed = seed.document(kb.id, kb.owner, name="failed.pdf", status="failed")
        assert (await kb.upload()).status_code == 201
        refused = await kb.client.post(f"{kb.path}/{failed}/retry")
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "10")
        assert seed.one("SELECT status FROM documents WHERE id = %s", failed) == "failed"
        seed.execute("UPDATE document_processing_runs SET status = 'in_progress'")
        assert (await kb.client.post(f"{kb.path}/{failed}/retry")).status_code < 300


async def test_retry_of_a_failed_replacement_waits_for_room_in_the_queue(settings: Settings, seed: Seed) -> None:
    async with limited(settings, seed, max_queued_runs=1) as (_, kb):
        [document_id] = await completed(kb, seed, "a.pdf")
        add_failed_replacement(seed, document_id)
        waiting = (await kb.upload(name="waiting.pdf")).json()["id"]
        refused = await kb.client.post(f"{kb.path}/{document_id}/replace/retry")
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "10")
        complete(seed, waiting)
        assert (await kb.client.post(f"{kb.path}/{document_id}/replace/retry")).status_code == 200


def add_failed_replacement(seed: Seed, document_id: str) -> None:
    """Add a second revision, as an automatic revert leaves it."""
    seed.execute(
        """INSERT INTO document_revisions SELECT (jsonb_populate_record(r, jsonb_build_object(
                  'revision', 2, 'name', 'new.pdf', 'original_uri', replace(r.original_uri, '/1/', '/2/'),
                  'expires_at', now() + interval '7 days',
                  'failure', jsonb_build_object('code', 'corrupt', 'message', 'It is damaged', 'at', now())))).*
             FROM document_revisions r WHERE document_id = %s""",
        document_id,
    )


async def completed(kb: KB, seed: Seed, *names: str) -> list[str]:
    """Upload documents of the same size and complete them."""
    documents = [(await kb.upload(a_pdf(str(number)), name)).json()["id"] for number, name in enumerate(names)]
    for document_id in documents:
        complete(seed, document_id)
    return documents


async def test_replacement_counts_the_difference(settings: Settings, seed: Seed) -> None:
    async with limited(settings, seed, max_bytes=2 * SIZE) as (_, kb):
        first, second = await completed(kb, seed, "a.pdf", "b.pdf")
        assert (await replace(kb, first, a_pdf("2"))).status_code == 200
        assert (await get_usage(kb))["bytes"] == {"used": 2 * SIZE, "limit": 2 * SIZE}
        answer = await kb.client.post(f"{kb.path}/{second}/replace", files={"file": ("x.pdf", a_pdf("3"))})
        assert answer.status_code == 200, "replacements in progress do not get in each other's way"
        complete(seed, first)
        complete(seed, second)
        assert seed.one(USED) == 2 * SIZE
        assert_over_quota(await replace(kb, first, a_pdf("a much longer text than before")), "quota of ")
        assert seed.one("SELECT status FROM documents WHERE id = %s", first) == "completed"


async def test_second_replacement_in_progress_counts_in_full(settings: Settings, seed: Seed) -> None:
    """Only one earlier version is free: otherwise documents that are never processed could fill the disk."""
    async with limited(settings, seed, max_bytes=2 * SIZE) as (_, kb):
        (document_id,) = await completed(kb, seed, "a.pdf")
        for number in (1, 2):
            seed.execute("UPDATE documents SET status = 'failed' WHERE status IN ('pending', 'processing')")
            assert (await replace(kb, document_id, a_pdf(str(number)))).status_code == 200
        assert seed.one(USED) == 3 * SIZE
        assert (await get_usage(kb))["bytes"]["used"] == 2 * SIZE
        seed.execute("UPDATE documents SET status = 'failed'")
        assert (await get_usage(kb))["bytes"]["used"] == 3 * SIZE, "a revision that is kept counts"
        assert_over_quota(await kb.upload(name="b.pdf"), "quota of ")


async def test_a_failed_replacement_makes_room_for_the_next_one(settings: Settings, seed: Seed) -> None:
    longer = a_pdf("a longer text than before")
    async with limited(settings, seed, max_bytes=2 * SIZE) as (_, kb):
        (document_id,) = await completed(kb, seed, "a.pdf")
        add_failed_replacement(seed, document_id)
        assert (await get_usage(kb))["bytes"]["used"] == 2 * SIZE
        assert SIZE < len(longer) < 2 * SIZE
        assert (await replace(kb, document_id, longer)).status_code == 200
        assert (await get_usage(kb))["bytes"]["used"] == len(longer)


async def test_smaller_replacement_gives_space_back_when_it_completes(settings: Settings, seed: Seed) -> None:
    content = a_pdf("a long text " * 20)
    async with limited(settings, seed, max_bytes=len(content)) as (_, kb):
        document_id = (await kb.upload(content, "a.pdf")).json()["id"]
        complete(seed, document_id)
        assert (await replace(kb, document_id, a_pdf("0"))).status_code == 200
        assert_over_quota(await kb.upload(b"A short note", "note.txt"), "quota of ")
        complete(seed, document_id)
        assert (await kb.upload(b"A short note", "note.txt")).status_code == 201


async def test_smaller_replacement_is_possible_over_the_quota(settings: Settings, seed: Seed) -> None:
    async with limited(settings, seed, max_bytes=SIZE // 2, max_documents=1) as (_, kb):
        document_id = str(seed.document(kb.id, kb.owner, file_size=SIZE))
        seed.execute("UPDATE document_revisions SET file_size = %s", SIZE)
        seed.document(kb.id, kb.owner, name="other.pdf")
        assert (await replace(kb, document_id, a_pdf("0"))).status_code == 200


async def test_without_quotas_no_upload_waits_for_the_lock_of_its_organization(
    api: RunningApi, kb: KB, seed: Seed
) -> None:
    seed.one("SELECT pg_advisory_lock(hashtextextended(%s, 0))", lock_name(kb.owner.organization_id))
    assert (await kb.upload()).status_code == 201


async def test_admins_and_operators_see_the_usage(settings: Settings, seed: Seed) -> None:
    async with limited(settings, seed, max_documents=7) as (api, kb):
        await kb.upload(a_pdf("0"))
        colleague = seed.person(kb.owner.organization_id, is_admin=True)
        seed.document(seed.knowledge_base(colleague), colleague, status="archived")
        expected = {
            "bytes": {"used": SIZE + 1000, "limit": None},
            "documents": {"used": 2, "limit": 7},
            "queued_runs": {"used": 1, "limit": None},
        }
        assert await get_usage(kb) == expected
        async with api.client(seed.person(is_operator=True)) as client:
            assert (await client.get(usage_path(kb.owner.organization_id))).json() == expected
            assert (await client.get(usage_path(uuid4()))).status_code == 404


@pytest.mark.parametrize(("who", "status"), [("member", 403), ("admin of another organization", 404)])
async def test_others_do_not_see_the_usage(api: RunningApi, kb: KB, seed: Seed, who: str, status: int) -> None:
    person: Person = seed.person(kb.owner.organization_id) if who == "member" else seed.person(is_admin=True)
    async with api.client(person) as client:
        assert (await client.get(usage_path(kb.owner.organization_id))).status_code == status


def usage_path(organization_id: UUID) -> str:
    return f"/api/v1/organizations/{organization_id}/usage"
