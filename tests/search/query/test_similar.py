from uuid import uuid4

from tests.search.conftest import SearchFixture
from tests.search.passages_fixture import Passage


async def test_the_nearest_other_documents_come_nearest_first_each_once(search_env: SearchFixture) -> None:
    dog = search_env.document(*[Passage(f"dog {number}", {"dog": 1}) for number in range(150)])
    hound = search_env.document(Passage("hound", {"dog": 1, "sea": 0.1}), Passage("hounds", {"dog": 1, "sea": 0.2}))
    beach = search_env.document(Passage("beach", {"dog": 0.3, "sea": 1}))
    garden = search_env.document(Passage("bed of roses", {"garden": 1}))

    items = await search_env.look(dog, "similar")

    assert [item["document_id"] for item in items] == [str(hound), str(beach), str(garden)]
    assert [item["snippet"] for item in items] == ["hound", "beach", "bed of roses"]
    assert 1 >= items[0]["score"] > items[1]["score"] > items[2]["score"] == 0
    assert len(await search_env.look(dog, "similar", limit=1)) == 1


async def test_similar_documents_come_from_everything_that_the_caller_may_see_and_nothing_else(
    search_env: SearchFixture,
) -> None:
    stranger = search_env.seed.person()
    mine = search_env.document(Passage("dog", {"dog": 1}))
    elsewhere = search_env.passages_env.add(
        search_env.seed.knowledge_base(search_env.owner, "Other"), search_env.owner, [Passage("x", {"dog": 1})]
    )
    search_env.passages_env.add(search_env.seed.knowledge_base(stranger), stranger, [Passage("x", {"dog": 1})])
    search_env.document(Passage("dog", {"dog": 1}), status="archived")

    assert [item["document_id"] for item in await search_env.look(mine, "similar")] == [str(elsewhere)]


async def test_a_document_without_passages_is_similar_to_nothing(search_env: SearchFixture) -> None:
    search_env.document("x")
    unread = search_env.seed.document(search_env.kb_id, search_env.owner, status="pending")
    archived = search_env.document("x", status="archived")

    assert await search_env.look(unread, "similar") == []
    assert await search_env.look(archived, "similar") == []


async def test_who_may_not_see_the_document_gets_404(search_env: SearchFixture) -> None:
    mine = search_env.document("x")
    async with search_env.api.client(search_env.seed.person()) as stranger:
        for client, document_id in ((search_env.client, uuid4()), (stranger, mine)):
            for place in ("similar", "search?q=x"):
                answer = await client.get(search_env.path(document_id, place))
                assert (answer.status_code, answer.json()) == (404, {"detail": "Document not found"})
    assert (await search_env.client.get(search_env.path(mine, "similar?limit=51"))).status_code == 422
