from uuid import uuid4

from tests.search.conftest import SearchFixture
from tests.search.passages_fixture import Passage


async def test_the_nearest_other_documents_come_nearest_first_each_once(room: SearchFixture) -> None:
    dog = room.document(*[Passage(f"dog {number}", {"dog": 1}) for number in range(150)])
    hound = room.document(Passage("hound", {"dog": 1, "sea": 0.1}), Passage("hounds", {"dog": 1, "sea": 0.2}))
    beach = room.document(Passage("beach", {"dog": 0.3, "sea": 1}))
    garden = room.document(Passage("bed of roses", {"garden": 1}))

    items = await room.look(dog, "similar")

    assert [item["document_id"] for item in items] == [str(hound), str(beach), str(garden)]
    assert [item["snippet"] for item in items] == ["hound", "beach", "bed of roses"]
    assert 1 >= items[0]["score"] > items[1]["score"] > items[2]["score"] == 0
    assert len(await room.look(dog, "similar", limit=1)) == 1


async def test_similar_documents_come_from_everything_that_the_caller_may_see_and_nothing_else(
    room: SearchFixture,
) -> None:
    stranger = room.seed.person()
    mine = room.document(Passage("dog", {"dog": 1}))
    elsewhere = room.library.add(room.seed.knowledge_base(room.owner, "Other"), room.owner, [Passage("x", {"dog": 1})])
    room.library.add(room.seed.knowledge_base(stranger), stranger, [Passage("x", {"dog": 1})])
    room.document(Passage("dog", {"dog": 1}), status="archived")

    assert [item["document_id"] for item in await room.look(mine, "similar")] == [str(elsewhere)]


async def test_a_document_without_passages_is_similar_to_nothing(room: SearchFixture) -> None:
    room.document("x")
    unread = room.seed.document(room.kb_id, room.owner, status="pending")
    archived = room.document("x", status="archived")

    assert await room.look(unread, "similar") == []
    assert await room.look(archived, "similar") == []


async def test_who_may_not_see_the_document_gets_404(room: SearchFixture) -> None:
    mine = room.document("x")
    async with room.api.client(room.seed.person()) as stranger:
        for client, document_id in ((room.client, uuid4()), (stranger, mine)):
            for place in ("similar", "search?q=x"):
                answer = await client.get(room.path(document_id, place))
                assert (answer.status_code, answer.json()) == (404, {"detail": "Document not found"})
    assert (await room.client.get(room.path(mine, "similar?limit=51"))).status_code == 422
