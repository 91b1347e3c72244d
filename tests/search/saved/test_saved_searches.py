"""Saved searches over HTTP: each user has their own."""

import asyncio
from typing import Any
from uuid import uuid4

import httpx
import pytest

from muniment.search.saved.repository import MAX_SAVED_SEARCHES
from tests.search.conftest import SearchFixture

PATH = "/api/v1/saved-searches"
PARAMETERS = {"q": "notice period", "format": ["pdf"], "sort": "date", "added_from": "2026-06-15"}


async def save(client: httpx.AsyncClient, name: str = "Notices", **parameters: Any) -> dict[str, Any]:
    answer = await client.post(PATH, json={"name": name, "parameters": parameters or PARAMETERS})
    assert answer.status_code == 201, answer.text
    saved: dict[str, Any] = answer.json()
    return saved


async def names(client: httpx.AsyncClient) -> list[str]:
    return [item["name"] for item in (await client.get(PATH)).json()["items"]]


async def test_a_search_is_saved_opened_renamed_and_deleted(search_env: SearchFixture) -> None:
    client = search_env.client
    saved = await save(client, "  Notices ")
    await save(client, "address", q="street", mode="hybrid")
    (address, notices) = (await client.get(PATH)).json()["items"]
    assert (address["parameters"], notices["name"], notices["parameters"]) == ({"q": "street"}, "Notices", PARAMETERS)
    assert (await client.get("/api/v1/search", params=notices["parameters"])).status_code == 200

    place = f"{PATH}/{saved['id']}"
    renamed = (await client.patch(place, json={"name": "Terms"})).json()
    assert (renamed["name"], renamed["parameters"]) == ("Terms", PARAMETERS)
    changed = (await client.patch(place, json={"parameters": {"q": "terms"}})).json()
    assert (changed["name"], changed["parameters"]) == ("Terms", {"q": "terms"})
    assert changed["updated_at"] > changed["created_at"]
    assert (await client.delete(place)).status_code == 204
    assert (await client.delete(place)).status_code == 404
    assert (await client.patch(place, json={"name": "x"})).status_code == 404
    assert await names(client) == ["address"]


async def test_a_name_is_used_once(search_env: SearchFixture) -> None:
    await save(search_env.client, "Notices")
    other = await save(search_env.client, "Other")
    again = await search_env.client.post(PATH, json={"name": "Notices", "parameters": PARAMETERS})
    assert (again.status_code, again.json()["detail"]) == (409, "You already have a saved search with this name")
    renamed = await search_env.client.patch(f"{PATH}/{other['id']}", json={"name": "Notices"})
    assert renamed.status_code == 409
    assert await names(search_env.client) == ["Notices", "Other"]


@pytest.mark.parametrize(
    "body",
    [
        {"name": "", "parameters": PARAMETERS},
        {"name": " ", "parameters": PARAMETERS},
        {"name": "x" * 101, "parameters": PARAMETERS},
        {"name": "a\nb", "parameters": PARAMETERS},
        {"name": "x", "parameters": {}},
        {"name": "x", "parameters": {"q": " "}},
        {"name": "x", "parameters": {"q": "a", "limit": 3}},
        {"name": "x", "parameters": {"q": "a", "unknown": "b"}},
        {"name": "x", "parameters": {"q": "a", "sort": "size"}},
        {"name": "x", "parameters": {"q": "a", "kb_id": ["none"]}},
        {"name": "x", "parameters": {"q": "a", "uploaded_by": [str(uuid4()) for _ in range(101)]}},
        {"parameters": PARAMETERS},
    ],
)
async def test_only_what_the_search_would_take_is_saved(search_env: SearchFixture, body: dict[str, Any]) -> None:
    assert (await search_env.client.post(PATH, json=body)).status_code == 422
    assert await names(search_env.client) == []


async def test_a_user_has_at_most_a_hundred_even_if_two_are_saved_at_once(search_env: SearchFixture) -> None:
    for number in range(MAX_SAVED_SEARCHES - 1):
        await save(search_env.client, f"Search {number}")
    last = [search_env.client.post(PATH, json={"name": f"Last {n}", "parameters": PARAMETERS}) for n in range(3)]
    answers = await asyncio.gather(*last)
    assert sorted(answer.status_code for answer in answers) == [201, 409, 409]
    assert len(await names(search_env.client)) == MAX_SAVED_SEARCHES


async def test_nobody_else_sees_or_changes_them_and_they_go_with_their_user(search_env: SearchFixture) -> None:
    saved = await save(search_env.client)
    place = f"{PATH}/{saved['id']}"
    admin = search_env.seed.person(search_env.owner.organization_id, is_admin=True)
    for other in (admin, search_env.seed.person()):
        async with search_env.api.client(other) as client:
            assert await names(client) == []
            assert (await client.patch(place, json={"name": "Mine"})).status_code == 404
            assert (await client.delete(place)).status_code == 404
            await save(client)  # the name is free for everybody
    assert await names(search_env.client) == ["Notices"]

    leaving = search_env.seed.person()
    async with search_env.api.client(leaving) as client:
        await save(client)
    count = "SELECT count(*) FROM saved_views WHERE user_id = %s"
    assert search_env.seed.one(count, leaving.id) == 1
    for table in ("sessions", "api_tokens"):
        search_env.seed.execute(f"DELETE FROM {table} WHERE user_id = %s", leaving.id)
    search_env.seed.execute("DELETE FROM users WHERE id = %s", leaving.id)
    assert search_env.seed.one(count, leaving.id) == 0
