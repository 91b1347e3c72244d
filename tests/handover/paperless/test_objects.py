import asyncio

import httpx
import pytest

from muniment.handover.paperless.client import PaperlessClient
from muniment.handover.paperless.errors import PaperlessKind, PaperlessMisconfigured
from tests.handover.paperless.conftest import ServerAddress
from tests.handover.paperless.uploads import a_name


@pytest.mark.parametrize("kind", list(PaperlessKind))
async def test_a_name_is_made_once_and_found_again(paperless: PaperlessClient, kind: PaperlessKind) -> None:
    name = a_name()
    assert await paperless.find_id(kind, name) is None
    made = await paperless.get_or_create(kind, name)
    assert await paperless.get_or_create(kind, name) == made
    assert await paperless.find_id(kind, name) == made


async def test_eight_at_once_get_the_same_id(paperless: PaperlessClient) -> None:
    name = a_name("org")
    assert len(set(await asyncio.gather(*(paperless.get_or_create(PaperlessKind.TAG, name) for _ in range(8))))) == 1


async def test_a_name_in_other_letters_is_another_thing(paperless: PaperlessClient) -> None:
    name = a_name("Alpha")
    made = await paperless.get_or_create(PaperlessKind.TAG, name)
    assert await paperless.find_id(PaperlessKind.TAG, name.upper()) is None
    assert await paperless.get_or_create(PaperlessKind.TAG, name.upper()) != made
    assert await paperless.find_id(PaperlessKind.TAG, name) == made


async def test_the_longest_name_that_we_give_and_letters_of_all_kinds_are_found(paperless: PaperlessClient) -> None:
    for name in (f"bilko-source-uuid:{a_name()}{'f' * 30}"[:82], f"Šišmiš & Söhne + 50 % {a_name()}"):
        made = await paperless.get_or_create(PaperlessKind.TAG, name)
        assert await paperless.find_id(PaperlessKind.TAG, name) == made


@pytest.mark.parametrize("kind", [PaperlessKind.TAG, PaperlessKind.CORRESPONDENT, PaperlessKind.DOCUMENT_TYPE])
async def test_what_we_make_matches_nothing_by_itself(
    paperless: PaperlessClient, server_address: ServerAddress, kind: PaperlessKind
) -> None:
    made = await paperless.get_or_create(kind, a_name())
    assert _ask(server_address, f"/api/{kind}/{made}/")["matching_algorithm"] == 0


async def test_a_custom_field_that_is_not_for_text_stops_the_line(
    paperless: PaperlessClient, server_address: ServerAddress
) -> None:
    name = a_name("number")
    _ask(server_address, "/api/custom_fields/", {"name": name, "data_type": "integer"})
    with pytest.raises(PaperlessMisconfigured, match="not a text field"):
        await paperless.get_or_create(PaperlessKind.CUSTOM_FIELD, name)


def _ask(server_address: ServerAddress, path: str, body: dict[str, str] | None = None) -> dict[str, object]:
    headers = {"Authorization": f"Token {server_address.token}", "Accept": "application/json; version=9"}
    answer = httpx.request("POST" if body else "GET", server_address.url + path, json=body, headers=headers)
    answer.raise_for_status()
    found: dict[str, object] = answer.json()
    return found
