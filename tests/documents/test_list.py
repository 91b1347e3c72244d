"""The list of documents, and a single one."""

from uuid import uuid4

import pytest

from tests.documents.uploads import KB, documents_path
from tests.support.live_api import RunningApi
from tests.support.seed import Seed


async def names(kb: KB, query: str = "") -> list[str]:
    answer = await kb.client.get(f"{kb.path}?{query}")
    assert answer.status_code == 200, answer.text
    return [item["name"] for item in answer.json()["items"]]


async def test_archived_ones_are_left_out_unless_asked_for(kb: KB, seed: Seed) -> None:
    for status in ("pending", "processing", "completed", "failed", "archived"):
        seed.document(kb.id, kb.owner, name=status, status=status)

    assert await names(kb, "sort=name") == ["completed", "failed", "pending", "processing"]
    assert await names(kb, "status=archived") == ["archived"]
    assert await names(kb, "status=archived&status=failed&sort=name") == ["archived", "failed"]


async def test_document_type_can_be_several(kb: KB, seed: Seed) -> None:
    for kind in ("invoice", "contract", "other"):
        seed.document(kb.id, kb.owner, name=kind, document_type=kind)

    assert await names(kb, "document_type=invoice") == ["invoice"]
    assert await names(kb, "document_type=invoice&document_type=contract&sort=name") == ["contract", "invoice"]


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("REPORT", ["Annual report.pdf"]),
        ("100%25", ["100% sure.pdf"]),
        ("%25", ["100% sure.pdf"]),
        ("_", ["snake_case.pdf"]),
        ("%2F", []),
        ("%5C", []),
        ("CAFE%CC%81", ["caf\u00e9.pdf"]),
        ("pdf", ["100% sure.pdf", "Annual report.pdf", "caf\u00e9.pdf", "snake_case.pdf"]),
        ("", ["100% sure.pdf", "Annual report.pdf", "caf\u00e9.pdf", "snake_case.pdf"]),
    ],
)
async def test_search_ignores_case_and_takes_every_character_literally(
    kb: KB, seed: Seed, search: str, found: list[str]
) -> None:
    for name in ("Annual report.pdf", "100% sure.pdf", "snake_case.pdf", "caf\u00e9.pdf"):
        seed.document(kb.id, kb.owner, name=name)

    assert sorted(await names(kb, f"search={search}")) == found


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("name", ["a", "B", "c"]),
        ("-name", ["c", "B", "a"]),
        ("file_size", ["c", "a", "B"]),
        ("-file_size", ["B", "a", "c"]),
        ("created_at", ["B", "a", "c"]),
        ("-created_at", ["c", "a", "B"]),
    ],
)
async def test_sorted_both_ways(kb: KB, seed: Seed, sort: str, order: list[str]) -> None:
    for name, size, day in (("a", 20, 2), ("B", 30, 1), ("c", 10, 3)):
        seed.document(kb.id, kb.owner, name=name, file_size=size, created_at=f"2026-01-0{day}T00:00Z")

    assert await names(kb, f"sort={sort}") == order


@pytest.mark.parametrize("sort", ["status", "-status", "document_type", "-file_size", "-created_at"])
async def test_pages_of_equals_show_each_once_with_the_total(kb: KB, seed: Seed, sort: str) -> None:
    expected = {f"{number}.pdf" for number in range(7)}
    for name in expected:
        seed.document(kb.id, kb.owner, name=name, created_at="2026-01-01T00:00Z")

    seen: list[str] = []
    for page in (1, 2, 3, 4):
        body = (await kb.client.get(kb.path, params={"sort": sort, "limit": 3, "page": page})).json()
        assert (body["total"], body["page"], body["limit"]) == (7, page, 3)
        seen += [item["name"] for item in body["items"]]

    assert len(seen) == 7
    assert set(seen) == expected


@pytest.mark.parametrize(
    "query",
    [
        "page=0",
        "page=1000001",
        "page=x",
        "limit=0",
        "limit=101",
        "status=gone",
        "document_type=novel",
        "sort=size",
        "sort=name_key",
        "search=%00",
        f"search={'x' * 256}",
    ],
)
async def test_what_is_out_of_bounds_is_refused(kb: KB, query: str) -> None:
    assert (await kb.client.get(f"{kb.path}?{query}")).status_code == 422


async def test_limits_are_twenty_by_default_and_a_hundred_at_most(kb: KB) -> None:
    assert (await kb.client.get(kb.path)).json() == {"items": [], "total": 0, "page": 1, "limit": 20}
    assert (await kb.client.get(f"{kb.path}?limit=100&page=1000000")).json()["limit"] == 100


async def test_stranger_gets_404_for_list_and_document(api: RunningApi, kb: KB, seed: Seed) -> None:
    document_id = seed.document(kb.id, kb.owner)
    async with api.client(seed.person(kb.owner.organization_id)) as client:
        assert (await client.get(kb.path)).json() == {"detail": "Knowledge base not found"}
        assert (await client.get(f"{kb.path}/{document_id}")).status_code == 404


async def test_document_is_not_found_under_another_knowledge_base(kb: KB, seed: Seed) -> None:
    document_id = seed.document(kb.id, kb.owner)
    foreigner = seed.person()
    own_other, foreign = seed.knowledge_base(kb.owner), seed.knowledge_base(foreigner)
    assert (await kb.client.get(f"{kb.path}/{document_id}")).status_code == 200
    for kb_id in (own_other, foreign, uuid4()):
        for tail in ("", "/download"):
            assert (await kb.client.get(f"{documents_path(kb_id)}/{document_id}{tail}")).status_code == 404


async def test_missing_document_is_404(kb: KB) -> None:
    answer = await kb.client.get(f"{kb.path}/{uuid4()}")
    assert (answer.status_code, answer.json()) == (404, {"detail": "Document not found"})


async def test_it_says_who_uploaded_and_how_the_hand_over_stands(kb: KB, seed: Seed) -> None:
    address = "https://paperless.example.org/documents/7/"
    kept = seed.document(kb.id, kb.owner, name="kept", archive_status="archived", paperless_doc_url=address)

    one = (await kb.client.get(f"{kb.path}/{kept}")).json()
    [listed] = (await kb.client.get(kb.path)).json()["items"]

    assert listed == one
    assert (one["archive_status"], one["paperless_doc_url"]) == ("archived", address)
    assert one["uploaded_by_email"] == kb.owner.email
