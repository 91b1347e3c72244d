"""Walk all tables and functions of the database: an unprotected one fails here."""

import re
from contextlib import suppress

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege

from muniment.storage.db.address import APP_LOGIN, OWNER_ROLE, SERVICE_LOGIN, DatabaseAddress
from tests.security.test_views import INVOKER_VIEWS, OWNER_VIEWS
from tests.security.world import a_world
from tests.support.cluster import app_login, service_login
from tests.support.seed import Seed

WITHOUT_FORCE = {
    "knowledge_bases": "read by the definer functions that its own policy calls (docs/design.md#policies)",
    "knowledge_base_members": "read by the definer functions that its own policy calls (docs/design.md#policies)",
}
WITHOUT_POLICY = {
    "alembic_version": "one line with the version of the tables; both logins read it, neither writes it",
    "schema_compatibility": "versions of the tables; both logins read it, neither writes it",
}
QUEUE = re.compile(r"procrastinate_")
COMMANDS = ("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER")
EVERY_TABLE = "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace"
# Functions of extensions count as PostgreSQL's own.
EVERY_FUNCTION = """
    SELECT p.oid::regprocedure::text, p.oid, p.prosecdef, p.proconfig FROM pg_proc p
     WHERE pronamespace = 'public'::regnamespace
       AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = p.oid AND deptype = 'e')
"""
AUDIT_LINE = "INSERT INTO audit_events (id, action, actor, payload) VALUES (gen_random_uuid(), 'test', 'system', '{}')"


def rights(seed: Seed, login: str, table: str) -> set[str]:
    return {
        command for command in COMMANDS if seed.one("SELECT has_table_privilege(%s, %s, %s)", login, table, command)
    }


def test_every_table_has_forced_row_level_security_and_a_policy_or_a_stated_reason(seed: Seed) -> None:
    unprotected = []
    for (table,) in seed.rows(EVERY_TABLE):
        enabled, forced, policies = seed.rows(
            """SELECT relrowsecurity, relforcerowsecurity, (SELECT count(*) FROM pg_policy WHERE polrelid = c.oid)
                 FROM pg_class c WHERE oid = %s::regclass""",
            table,
        )[0]
        is_protected = enabled and policies and (forced or table in WITHOUT_FORCE)
        if not (is_protected or table in WITHOUT_POLICY or QUEUE.match(table)):
            unprotected.append(table)
    assert unprotected == []


def test_every_view_is_known(seed: Seed) -> None:
    """A new view needs tests in `test_views.py`, and its name there."""
    found = {name for (name,) in seed.rows("SELECT viewname FROM pg_views WHERE schemaname = 'public'")}
    assert found == {*OWNER_VIEWS, *INVOKER_VIEWS}


def test_only_the_service_login_has_rights_on_the_queue(seed: Seed) -> None:
    tables = [table for (table,) in seed.rows(EVERY_TABLE) if QUEUE.match(table)]
    assert len(tables) >= 4
    for table in tables:
        assert rights(seed, APP_LOGIN, table) == set()
        assert rights(seed, SERVICE_LOGIN, table) == {"SELECT", "INSERT", "UPDATE", "DELETE"}
        assert (
            seed.one(
                "SELECT count(*) FROM aclexplode((SELECT relacl FROM pg_class WHERE oid = %s::regclass))"
                " WHERE grantee = 0",
                table,
            )
            == 0
        )


def test_nobody_but_the_owner_may_empty_a_table_or_make_things(seed: Seed) -> None:
    for login in (APP_LOGIN, SERVICE_LOGIN):
        for (table,) in seed.rows(EVERY_TABLE):
            assert not rights(seed, login, table) & {"TRUNCATE", "REFERENCES", "TRIGGER"}, table
        assert not seed.one("SELECT has_schema_privilege(%s, 'public', 'CREATE')", login)
        assert all(rights(seed, login, table) == {"SELECT"} for table in WITHOUT_POLICY)


@pytest.mark.parametrize("login", [APP_LOGIN, SERVICE_LOGIN])
def test_the_logins_are_ordinary_and_members_of_nothing(seed: Seed, login: str) -> None:
    attributes = seed.rows(
        "SELECT rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication FROM pg_roles WHERE rolname = %s",
        login,
    )
    assert attributes == [(False,) * 5]
    assert seed.rows("SELECT roleid::regrole::text FROM pg_auth_members WHERE member = %s::regrole", login) == []


@pytest.mark.parametrize("login", [APP_LOGIN, SERVICE_LOGIN])
def test_no_login_may_read_password_hashes(seed: Seed, login: str) -> None:
    assert not seed.one("SELECT has_column_privilege(%s, 'users', 'password_hash', 'SELECT')", login)
    assert seed.one("SELECT has_column_privilege(%s, 'users', 'email', 'SELECT')", login)


def test_no_function_is_executable_by_everybody(seed: Seed) -> None:
    assert len(seed.rows(EVERY_FUNCTION)) > 20
    by_everybody = [
        name
        for name, oid, *_ in seed.rows(EVERY_FUNCTION)
        if seed.one("SELECT has_function_privilege('public', %s::oid, 'EXECUTE')", oid)
    ]
    assert by_everybody == []


def test_every_definer_function_has_a_fixed_search_path_and_the_ordinary_owner(seed: Seed) -> None:
    definers = [(name, oid, config) for name, oid, is_definer, config in seed.rows(EVERY_FUNCTION) if is_definer]
    assert len(definers) > 10
    for name, oid, config in definers:
        # The temporary schema last: otherwise it is searched first, and everyone may create a table there.
        assert [setting for setting in config if "enable_" not in setting] == [
            "search_path=pg_catalog, public, pg_temp"
        ], name
        assert seed.one("SELECT proowner::regrole::text FROM pg_proc WHERE oid = %s", oid) == OWNER_ROLE, name


@pytest.mark.parametrize("who", [APP_LOGIN, SERVICE_LOGIN, OWNER_ROLE, "superuser"])
@pytest.mark.parametrize(
    "statement", ["UPDATE audit_events SET actor = 'nobody'", "DELETE FROM audit_events", "TRUNCATE audit_events"]
)
def test_the_audit_trail_cannot_be_changed(address: DatabaseAddress, seed: Seed, who: str, statement: str) -> None:
    seed.execute(AUDIT_LINE)
    login = {APP_LOGIN: app_login(address), SERVICE_LOGIN: service_login(address)}.get(who, address)
    with psycopg.connect(login.conninfo, autocommit=True) as connection:
        if who == OWNER_ROLE:
            connection.execute(f"SET ROLE {OWNER_ROLE}")
        try:
            changed = connection.execute(statement).rowcount
        except InsufficientPrivilege:
            changed = 0
    assert changed == 0
    assert seed.rows("SELECT actor FROM audit_events") == [("system",)]


@pytest.mark.parametrize("who", [APP_LOGIN, SERVICE_LOGIN, OWNER_ROLE, "superuser"])
@pytest.mark.parametrize("table", ["audit_seals", "audit_heads", "audit_keys"])
def test_what_seals_the_audit_trail_cannot_be_changed(
    address: DatabaseAddress, seed: Seed, who: str, table: str
) -> None:
    a_world(seed)
    before = seed.rows(f"SELECT t::text FROM {table} t")
    assert before
    login = {APP_LOGIN: app_login(address), SERVICE_LOGIN: service_login(address)}.get(who, address)
    column = "sealed_at" if table == "audit_seals" else "at"
    for statement in (f"UPDATE {table} SET {column} = now()", f"DELETE FROM {table}", f"TRUNCATE {table} CASCADE"):
        with psycopg.connect(login.conninfo, autocommit=True) as connection:
            if who == OWNER_ROLE:
                connection.execute(f"SET ROLE {OWNER_ROLE}")
            with suppress(InsufficientPrivilege):
                connection.execute(statement)
        assert seed.rows(f"SELECT t::text FROM {table} t") == before, statement


def test_neither_login_may_keep_an_event_from_its_seal(address: DatabaseAddress, seed: Seed) -> None:
    for login in (APP_LOGIN, SERVICE_LOGIN):
        assert rights(seed, login, "audit_unsealed") <= {"SELECT"}
    assert rights(seed, APP_LOGIN, "audit_unsealed") == set()


@pytest.mark.parametrize("login", [app_login, service_login])
def test_no_login_may_become_the_owner(address: DatabaseAddress, login: type) -> None:
    with psycopg.connect(login(address).conninfo) as connection, pytest.raises(InsufficientPrivilege):
        connection.execute(f"SET ROLE {OWNER_ROLE}")
