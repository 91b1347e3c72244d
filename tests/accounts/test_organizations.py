from uuid import uuid4

from tests.support.live_api import RunningApi
from tests.support.seed import Seed

ORGANIZATIONS = "/api/v1/organizations"


async def test_new_organization_is_there_and_has_nobody(api: RunningApi, seed: Seed) -> None:
    async with api.client(seed.person(is_operator=True)) as client:
        created = await client.post(ORGANIZATIONS, json={"name": " Mølla AS "})
        people = await client.get("/api/v1/users", params={"organization_id": created.json()["id"]})
    assert created.status_code == 201
    assert set(created.json()) == {"id", "name", "created_at"}
    assert created.json()["name"] == "Mølla AS"
    assert people.json()["total"] == 0


async def test_list_is_sorted_by_name_and_paged(api: RunningApi, seed: Seed) -> None:
    operator = seed.person(seed.organization("B"), is_operator=True)
    for name in ("C", "A"):
        seed.organization(name)
    async with api.client(operator) as client:
        pages = [(await client.get(ORGANIZATIONS, params={"limit": 2, "page": page})).json() for page in (1, 2)]
    assert [[item["name"] for item in page["items"]] for page in pages] == [["A", "B"], ["C"]]
    assert {page["total"] for page in pages} == {3}


async def test_renamed_organization_has_its_new_name_for_its_people(api: RunningApi, seed: Seed) -> None:
    operator, person = seed.person(is_operator=True), seed.person()
    async with api.client(operator) as client:
        answer = await client.patch(f"{ORGANIZATIONS}/{person.organization_id}", json={"name": "Ny AS"})
    async with api.client(person) as client:
        me = (await client.get("/api/v1/auth/me")).json()
    assert (answer.status_code, answer.json()["name"], me["organization_name"]) == (200, "Ny AS", "Ny AS")


async def test_renaming_to_the_same_name_writes_no_line(api: RunningApi, seed: Seed) -> None:
    operator = seed.person(seed.organization("Mølla AS"), is_operator=True)
    async with api.client(operator) as client:
        answer = await client.patch(f"{ORGANIZATIONS}/{operator.organization_id}", json={"name": "Mølla AS"})
    assert answer.status_code == 200
    assert seed.audit_lines() == []


async def test_missing_organization_is_404_and_bad_id_422(api: RunningApi, seed: Seed) -> None:
    async with api.client(seed.person(is_operator=True)) as client:
        missing = await client.patch(f"{ORGANIZATIONS}/{uuid4()}", json={"name": "Ny AS"})
        assert (missing.status_code, missing.json()) == (404, {"detail": "Organization not found"})
        assert (await client.patch(f"{ORGANIZATIONS}/x", json={"name": "Ny AS"})).status_code == 422
        new = {"email": "new@example.org", "password": "long enough", "organization_id": str(uuid4())}
        assert (await client.post("/api/v1/users", json=new)).status_code == 404


async def test_unfit_name_is_422(api: RunningApi, seed: Seed) -> None:
    async with api.client(seed.person(is_operator=True)) as client:
        for name in ("", " ", "a\0b", "x" * 201, None, 7):
            assert (await client.post(ORGANIZATIONS, json={"name": name})).status_code == 422, name
    assert seed.one("SELECT count(*) FROM organizations") == 1
