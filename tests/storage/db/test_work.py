"""`Work` begins and ends one transaction, and reports clearly when the database is unavailable."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import suppress

import psycopg
import pytest
from sqlalchemy import event, text
from sqlalchemy.exc import ProgrammingError

from muniment.knowledge_bases.tables import KnowledgeBase
from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.work import Database, DatabaseUnavailable
from tests.support.cluster import PASSWORDS
from tests.support.seed import Person, Seed

COUNT = "SELECT count(*) FROM knowledge_bases"
CUT_OFF = """
    SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
     WHERE datname = current_database() AND usename = 'muniment_app'
"""


@pytest.fixture
def owner(seed: Seed) -> Person:
    return seed.person()


@pytest.fixture
async def one_connection(address: DatabaseAddress) -> AsyncIterator[Database]:
    database = connect(address, pool_timeout_seconds=0.2)
    yield database
    await database.close()


def connect(address: DatabaseAddress, *, pool_timeout_seconds: float = 10, idle_seconds: float = 1) -> Database:
    return Database(
        address,
        app_password=PASSWORDS.app,
        service_password=PASSWORDS.service,
        pool_size=1,
        pool_timeout_seconds=pool_timeout_seconds,
        idle_seconds=idle_seconds,
    )


def a_knowledge_base(owner: Person) -> KnowledgeBase:
    return KnowledgeBase(organization_id=owner.organization_id, owner_id=owner.id, name="new")


async def test_the_end_commits(database: Database, seed: Seed, owner: Person) -> None:
    async with database.work(owner.principal) as work:
        work.session.add(a_knowledge_base(owner))
        await work.session.flush()
        assert seed.one(COUNT) == 0
    assert seed.one(COUNT) == 1


@pytest.mark.parametrize("error", [ZeroDivisionError, asyncio.CancelledError])
async def test_any_error_rolls_back(database: Database, seed: Seed, owner: Person, error: type[BaseException]) -> None:
    with suppress(error):
        async with database.work(owner.principal) as work:
            work.session.add(a_knowledge_base(owner))
            await work.session.flush()
            raise error
    assert seed.one(COUNT) == 0


async def test_a_transaction_begins_with_its_principal_in_one_message(database: Database, owner: Person) -> None:
    said: list[str] = []
    event.listen(database.app_engine.sync_engine, "before_cursor_execute", lambda *given: said.append(given[2]))
    await _ask(database, owner)
    assert said[0].startswith("BEGIN; SELECT set_config('app.user_id', '")
    assert said[1:] == ["SELECT 1", "SELECT 1"]


async def test_a_savepoint_stays_within_its_transaction(database: Database, seed: Seed, owner: Person) -> None:
    with suppress(ZeroDivisionError):
        async with database.work(owner.principal) as work:
            async with work.session.begin_nested():
                work.session.add(a_knowledge_base(owner))
            assert await work.session.scalar(text("SELECT current_setting('app.user_id')")) == str(owner.id)
            raise ZeroDivisionError
    assert seed.one(COUNT) == 0


async def test_nothing_of_a_principal_stays_on_the_connection(one_connection: Database, owner: Person) -> None:
    await _ask(one_connection, owner)
    assert await _left_behind(one_connection) == ("", psycopg.pq.TransactionStatus.IDLE)


async def test_a_transaction_that_was_rolled_back_is_not_left_open(one_connection: Database, owner: Person) -> None:
    def fail() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await _ask(one_connection, owner, cut=fail)
    assert await _left_behind(one_connection) == ("", psycopg.pq.TransactionStatus.IDLE)


async def test_a_transaction_that_is_cut_off_as_it_begins_is_not_left_open(
    one_connection: Database, owner: Person
) -> None:
    def cut_off(*_: object) -> None:
        raise asyncio.CancelledError

    event.listen(one_connection.app_engine.sync_engine, "after_cursor_execute", cut_off, once=True)
    with pytest.raises(asyncio.CancelledError):
        await _ask(one_connection, owner)
    assert await _left_behind(one_connection) == ("", psycopg.pq.TransactionStatus.IDLE)


async def _left_behind(database: Database) -> tuple[str, psycopg.pq.TransactionStatus]:
    """Return what the next user of the only connection finds: a principal, and the transaction status."""
    async with database.lookup_connection() as connection:
        found = await connection.scalar(text("SELECT current_setting('app.user_id', true)"))
        assert connection.sync_connection is not None
        driver: psycopg.AsyncConnection = connection.sync_connection.connection.driver_connection  # type: ignore[assignment]
        return found or "", driver.info.transaction_status


async def test_no_connection_is_taken_before_the_first_query(one_connection: Database, owner: Person) -> None:
    async with one_connection.work(owner.principal), one_connection.work(owner.principal) as second:
        assert await second.session.scalar(text("SELECT 1")) == 1


async def test_an_exhausted_pool_is_unavailable(one_connection: Database, owner: Person) -> None:
    async with one_connection.work(owner.principal) as first:
        await first.session.scalar(text("SELECT 1"))
        with pytest.raises(DatabaseUnavailable):
            await _ask(one_connection, owner)
    await _ask(one_connection, owner)


async def test_a_connection_that_is_cut_in_mid_work_is_unavailable_and_the_next_one_works(
    database: Database, seed: Seed, owner: Person
) -> None:
    with pytest.raises(DatabaseUnavailable):
        await _ask(database, owner, cut=lambda: seed.one(CUT_OFF))
    await _ask(database, owner)


async def test_connections_that_were_cut_while_they_rested_are_not_noticed(
    address: DatabaseAddress, seed: Seed, owner: Person
) -> None:
    database = connect(address, idle_seconds=0)
    await _ask(database, owner)
    assert seed.one(CUT_OFF) == 1
    await _ask(database, owner)
    await database.close()


async def test_a_connection_that_has_hardly_rested_is_not_asked_and_replaced_when_it_fails(
    address: DatabaseAddress, seed: Seed, owner: Person
) -> None:
    database = connect(address, idle_seconds=3600)
    await _ask(database, owner)
    assert seed.one(CUT_OFF) == 1
    with pytest.raises(DatabaseUnavailable):
        await _ask(database, owner)
    await _ask(database, owner)
    await database.close()


async def test_a_server_that_is_not_there_is_unavailable(address: DatabaseAddress, owner: Person) -> None:
    nowhere = connect(DatabaseAddress("127.0.0.1", 1, address.database, "", ""))
    with pytest.raises(DatabaseUnavailable):
        await _ask(nowhere, owner)
    await nowhere.close()


async def test_a_server_that_takes_the_connection_and_says_nothing_is_unavailable(
    address: DatabaseAddress, owner: Person
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        database = connect(DatabaseAddress("127.0.0.1", silent.getsockname()[1], address.database, "", ""))
        with pytest.raises(DatabaseUnavailable):
            await asyncio.wait_for(_ask(database, owner), 20)
        await database.close()


@pytest.mark.parametrize("state", ["57014", "55P03"])
async def test_a_statement_that_a_time_limit_of_the_server_has_ended_is_unavailable(
    database: Database, owner: Person, state: str
) -> None:
    with pytest.raises(DatabaseUnavailable):
        await _ask(database, owner, question=f"DO $$ BEGIN RAISE 'too late' USING ERRCODE = '{state}'; END $$")


async def test_a_mistake_in_a_query_stays_what_it_is(database: Database, owner: Person) -> None:
    with pytest.raises(ProgrammingError):
        await _ask(database, owner, question="SELECT * FROM no_such_table")


async def _ask(database: Database, owner: Person, *, question: str = "SELECT 1", cut: object = None) -> None:
    async with database.work(owner.principal) as work:
        await work.session.scalar(text("SELECT 1"))
        if callable(cut):
            cut()
        await work.session.execute(text(question))
