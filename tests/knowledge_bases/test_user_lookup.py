import pytest

from tests.knowledge_bases.roles import create_roles
from tests.support.live_api import RunningApi
from tests.support.seed import Seed

NOBODY = {"detail": "User not found"}


async def test_owner_and_admin_find_a_colleague_by_the_whole_address_and_nobody_else_does(
    api: RunningApi, seed: Seed
) -> None:
    cast = create_roles(seed)
    for person, status in cast.by_access_level:
        async with api.client(person) as client:
            answer = await client.get(f"{cast.path}/colleague", params={"email": cast.colleague.email})
        assert answer.status_code == status
    assert answer.json() == {"user_id": str(cast.colleague.id), "email": cast.colleague.email}


async def test_letters_may_be_large_and_a_part_of_an_address_finds_nobody(api: RunningApi, seed: Seed) -> None:
    cast = create_roles(seed)
    email = cast.colleague.email
    async with api.client(cast.owner) as client:
        found = await client.get(f"{cast.path}/colleague", params={"email": f" {email.upper()} "})
        assert found.json() == {"user_id": str(cast.colleague.id), "email": email}
        for part in (email[:-1], email[1:], "%%%", f"{email[0]}%%", "_" * len(email)):
            answer = await client.get(f"{cast.path}/colleague", params={"email": part})
            assert (answer.status_code, answer.json()) == (404, NOBODY)


@pytest.mark.parametrize("is_operator", [False, True])
async def test_who_is_of_another_organization_deactivated_or_invented_is_not_found(
    api: RunningApi, seed: Seed, is_operator: bool
) -> None:
    cast = create_roles(seed)
    asking = seed.person(cast.owner.organization_id, is_admin=True, is_operator=is_operator)
    seed.deactivate(cast.colleague)
    async with api.client(asking) as client:
        for email in (cast.stranger.email, cast.colleague.email, "nobody@example.org"):
            answer = await client.get(f"{cast.path}/colleague", params={"email": email})
            assert (answer.status_code, answer.json()) == (404, NOBODY)
