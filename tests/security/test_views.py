"""Views of search run with the rights of their owner, so they must decide themselves who sees what (docs/design.md#i2,
#i8). The others run with the rights of the caller, so that the policies of their tables decide.
"""

import pytest
from sqlalchemy import text

from muniment.storage.db.address import APP_LOGIN, SERVICE_LOGIN
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Database
from tests.security.world import MODEL, SECRET, World, a_world
from tests.support.seed import Seed

OWNER_VIEWS = ("passages", "passage_vectors", "indexed_documents", "lexical_documents")
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


@pytest.mark.parametrize(
    ("view", "column"), [("passages", "text"), ("passages", "document_name"), ("indexed_documents", "fingerprint")]
)
async def test_a_condition_of_the_caller_is_never_evaluated_on_rows_that_are_hidden(
    database: Database, seed: Seed, view: str, column: str
) -> None:
    """An error quotes the value that it could not convert, so it would tell what the view hides."""
    a_world(seed)
    stranger = seed.person()
    async with database.work(stranger.principal) as work:
        await work.session.execute(text("SET LOCAL enable_nestloop = off"))
        found = await work.session.execute(text(f"SELECT * FROM {view} WHERE CAST({column} AS integer) = 1"))
        assert found.all() == []


@pytest.mark.parametrize("view", OWNER_VIEWS)
def test_views_with_the_rights_of_their_owner_are_security_barriers(seed: Seed, view: str) -> None:
    assert seed.one("SELECT reloptions FROM pg_class WHERE oid = %s::regclass", view) == ["security_barrier=true"]


LOOK_UPS = {
    "match_passages": f"""
        SELECT document_id FROM match_passages(CAST(:kb_ids AS uuid[]), '{MODEL.fingerprint}', NULL, '{SECRET}',
               ARRAY[CAST('english' AS regconfig)], ARRAY[CAST('{SECRET}' AS tsquery)], NULL, NULL, NULL, 10)
    """,
    "nearest_passages": f"""
        SELECT document_id FROM nearest_passages(CAST(:kb_ids AS uuid[]), '{MODEL.fingerprint}', '{MODEL.model}', 3,
               CAST('[1,0,0]' AS halfvec), 10)
    """,
}
"""Functions that search the indexes of passages with the conditions of the views."""


@pytest.mark.parametrize("function", LOOK_UPS)
async def test_look_ups_show_what_the_views_show(database: Database, seed: Seed, function: str) -> None:
    world = a_world(seed)
    people = {"member": world.member.principal, **people_without_a_part_in_it(seed, world)}
    found = {}
    for who, principal in people.items():
        async with database.work(principal) as work:
            rows = await work.session.scalars(text(LOOK_UPS[function]), {"kb_ids": [world.kb_id]})
            found[who] = rows.all()
    assert found.pop("member") == [world.indexed_id]
    assert set(map(len, found.values())) == {0}
    for status in UNSEEN:
        seed.execute("UPDATE documents SET status = %s WHERE id = %s", status, world.indexed_id)
        async with database.work(world.owner.principal) as work:
            shown = await work.session.scalars(text(LOOK_UPS[function]), {"kb_ids": [world.kb_id]})
            assert shown.all() == [], status


@pytest.mark.parametrize("function", LOOK_UPS)
def test_only_requests_may_call_the_look_ups(seed: Seed, function: str) -> None:
    may = "SELECT has_function_privilege(%s, (SELECT oid FROM pg_proc WHERE proname = %s), 'EXECUTE')"
    assert seed.one(may, APP_LOGIN, function)
    assert not seed.one(may, SERVICE_LOGIN, function)


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
    for table in ("artifact_chunks", "artifact_indexes", "artifact_vectors"):
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
