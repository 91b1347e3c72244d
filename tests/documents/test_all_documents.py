"""Documents by name or id, across all knowledge bases that the caller may see."""

from uuid import uuid4

from tests.documents.uploads import KB
from tests.support.live_api import RunningApi
from tests.support.seed import Seed

PATH = "/api/v1/documents"


async def test_names_are_found_in_every_knowledge_base_of_the_caller_and_in_no_other(
    api: RunningApi, kb: KB, seed: Seed
) -> None:
    second = seed.knowledge_base(kb.owner, "Care plans")
    colleague = seed.person(kb.owner.organization_id)
    seed.document(kb.id, kb.owner, name="Lease 2026.pdf")
    seed.document(second, kb.owner, name="Lease annex.pdf")
    seed.document(second, kb.owner, name="Invoice.pdf")
    seed.document(kb.id, kb.owner, name="Old lease.pdf", status="archived")
    seed.document(seed.knowledge_base(colleague), colleague, name="Secret lease.pdf")
    foreigner = seed.person()
    seed.document(seed.knowledge_base(foreigner), foreigner, name="Foreign lease.pdf")

    answer = (await kb.client.get(PATH, params={"search": "LEASE"})).json()

    assert {(item["name"], item["kb_id"]) for item in answer["items"]} == {
        ("Lease 2026.pdf", str(kb.id)),
        ("Lease annex.pdf", str(second)),
    }
    assert answer["total"] == 2
    seed.member(second, colleague, "viewer")
    async with api.client(colleague) as client:
        seen = (await client.get(PATH, params={"search": "lease"})).json()["items"]
    assert {item["name"] for item in seen} == {"Lease annex.pdf", "Secret lease.pdf"}


async def test_an_id_tells_its_knowledge_base_to_who_may_see_it_and_nothing_to_others(
    api: RunningApi, kb: KB, seed: Seed
) -> None:
    document_id = seed.document(kb.id, kb.owner, status="archived")
    seed.document(kb.id, kb.owner, name="Another.pdf")

    (only,) = (await kb.client.get(PATH, params={"id": str(document_id)})).json()["items"]
    assert (only["id"], only["kb_id"]) == (str(document_id), str(kb.id))
    assert (await kb.client.get(PATH, params={"id": str(uuid4())})).json()["items"] == []
    async with api.client(seed.person(kb.owner.organization_id)) as client:
        assert (await client.get(PATH, params={"id": str(document_id)})).json()["total"] == 0


async def test_an_operator_sees_no_names_by_that_right(api: RunningApi, kb: KB, seed: Seed) -> None:
    seed.document(kb.id, kb.owner, name="Lease.pdf")
    async with api.client(seed.person(kb.owner.organization_id, is_operator=True)) as client:
        assert (await client.get(PATH)).json()["items"] == []
