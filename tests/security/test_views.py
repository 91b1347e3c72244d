"""Views of search run with the rights of their owner, so they must decide themselves who sees what (docs/design.md#i2,
#i8). The others run with the rights of the caller, so that the policies of their tables decide.
"""

import pytest
from sqlalchemy import text

from muniment.storage.db.address import APP_LOGIN, SERVICE_LOGIN
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Database
from tests.security.world import World, a_world
from tests.support.seed import Seed

OWNER_VIEWS = ("passages", "indexed_documents")
INVOKER_VIEWS = {
    "knowledge_base_document_counts": {APP_LOGIN, SERVICE_LOGIN},
    "open_handovers": {APP_LOGIN, SERVICE_LOGIN},
    "open_runs": {SERVICE_LOGIN},
}
"""The logins that may read each of them."""
COMMANDS = ("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER")
UNSEEN = ("pending", "processing", "failed", "archived")


async def documents_in(database: Database, principal: Principal, view: str) -> list[object]:
    async with database.work(principal) as work:
        return list(await work.session.scalars(text(f"SELECT document_id FROM {view}")))


def people_without_a_part_in_it(seed: Seed, world: World) -> dict[str, Principal]:
    gone = seed.person(world.organization_id, is_admin=True)
    seed.deactivate(gone)
    return {
        "stranger": seed.person().principal,
        "stranger who is an admin": seed.person(is_admin=True).principal,
        "operator": seed.person(is_operator=True).principal,
        "colleague": seed.person(world.organization_id).principal,
        "admin who was deactivated": gone.principal,
    }


@pytest.mark.parametrize("view", OWNER_VIEWS)
async def test_members_see_what_is_completed_and_others_see_nothing(database: Database, seed: Seed, view: str) -> None:
    world = a_world(seed)
    for insider in (world.owner, world.member, seed.person(world.organization_id, is_admin=True)):
        assert await documents_in(database, insider.principal, view) == [world.indexed_id]
    for who, principal in people_without_a_part_in_it(seed, world).items():
        assert await documents_in(database, principal, view) == [], who


@pytest.mark.parametrize("view", OWNER_VIEWS)
async def test_nobody_at_all_sees_nothing(database: Database, seed: Seed, view: str) -> None:
    a_world(seed)
    async with database.anonymous_work() as work:
        assert (await work.session.execute(text(f"SELECT * FROM {view}"))).all() == []


@pytest.mark.parametrize("status", UNSEEN)
async def test_only_completed_documents_are_seen(database: Database, seed: Seed, status: str) -> None:
    world = a_world(seed)
    seed.execute("UPDATE documents SET status = %s WHERE id = %s", status, world.indexed_id)
    for view in OWNER_VIEWS:
        assert await documents_in(database, world.owner.principal, view) == []


@pytest.mark.parametrize("view", OWNER_VIEWS)
def test_only_requests_may_read_them_and_nobody_writes_through_them(seed: Seed, view: str) -> None:
    assert rights(seed, APP_LOGIN, view) == {"SELECT"}
    assert rights(seed, SERVICE_LOGIN, view) == set()
    for table in ("artifact_chunks", "artifact_indexes"):
        assert rights(seed, APP_LOGIN, table) == set()


@pytest.mark.parametrize("view", INVOKER_VIEWS)
def test_other_views_have_the_rights_of_their_caller_and_are_read_only(seed: Seed, view: str) -> None:
    options = seed.one("SELECT reloptions FROM pg_class WHERE oid = %s::regclass", view)
    assert options == ["security_invoker=true"]
    for login in (APP_LOGIN, SERVICE_LOGIN):
        assert rights(seed, login, view) == ({"SELECT"} if login in INVOKER_VIEWS[view] else set())


@pytest.mark.parametrize("view", [view for view, logins in INVOKER_VIEWS.items() if APP_LOGIN in logins])
async def test_only_members_see_rows_of_a_view_with_the_rights_of_the_caller(
    database: Database, seed: Seed, view: str
) -> None:
    world = a_world(seed)
    people = {"owner": world.owner.principal, **people_without_a_part_in_it(seed, world)}
    rows = {}
    for who, principal in people.items():
        async with database.work(principal) as work:
            rows[who] = len((await work.session.execute(text(f"SELECT * FROM {view}"))).all())
    assert rows.pop("owner") > 0
    assert set(rows.values()) == {0}


def rights(seed: Seed, login: str, table: str) -> set[str]:
    may = "SELECT has_table_privilege(%s, %s, %s)"
    return {command for command in COMMANDS if seed.one(may, login, table, command)}
