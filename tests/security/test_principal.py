"""The principal is set per transaction, in one place: forgetting it fails, and no transaction inherits it."""

from collections.abc import AsyncIterator
from uuid import UUID

import pytest
from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from muniment.documents.tables import Document
from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.principal import Principal, Service
from muniment.storage.db.work import Database, PrincipalSession
from tests.security.world import a_world
from tests.support.cluster import PASSWORDS
from tests.support.seed import Seed

SETTING = text("SELECT current_setting('app.user_id', true)")
BACKEND = text("SELECT pg_backend_pid()")
DOCUMENTS = select(Document.id)


@pytest.fixture
async def one_connection(address: DatabaseAddress) -> AsyncIterator[Database]:
    """A pool of one connection, which the next transaction must reuse."""
    database = Database(address, app_password=PASSWORDS.app, service_password=PASSWORDS.service, pool_size=1)
    yield database
    await database.close()


async def documents_of(database: Database, principal: Principal) -> list[UUID]:
    async with database.work(principal) as work:
        return list((await work.session.scalars(DOCUMENTS)).all())


async def test_a_session_without_a_principal_cannot_reach_the_database(database: Database) -> None:
    forgetful = async_sessionmaker(database.app_engine, sync_session_class=PrincipalSession)
    async with forgetful() as session:
        with pytest.raises(KeyError, match="caller"):
            await session.scalars(DOCUMENTS)


async def test_a_bare_connection_sees_nothing(database: Database, seed: Seed) -> None:
    a_world(seed)
    for engine in (database.app_engine, database.service_engine):
        async with AsyncSession(engine) as session:
            assert (await session.scalars(DOCUMENTS)).all() == []


async def test_nobody_sees_nothing_and_the_empty_setting_does_not_raise(one_connection: Database, seed: Seed) -> None:
    world = a_world(seed)
    assert await documents_of(one_connection, world.owner.principal)
    async with one_connection.anonymous_work() as work:  # after one SET LOCAL the unset setting is ''
        assert await work.session.scalar(SETTING) == ""
        assert (await work.session.scalars(DOCUMENTS)).all() == []


async def test_a_service_without_an_organization_sees_no_document(one_connection: Database, seed: Seed) -> None:
    world = a_world(seed)
    async with one_connection.service_work(Service(world.organization_id)) as work:
        assert (await work.session.scalars(DOCUMENTS)).all() != []
    async with one_connection.service_work(Service()) as work:
        assert (await work.session.scalars(DOCUMENTS)).all() == []


@pytest.mark.parametrize("fails", [False, True])
async def test_the_next_borrower_of_a_connection_does_not_inherit_the_principal(
    one_connection: Database, seed: Seed, *, fails: bool
) -> None:
    world, stranger = a_world(seed), seed.person()
    try:
        async with one_connection.work(world.owner.principal) as work:
            lent = await work.session.scalar(BACKEND)
            if fails:
                raise ZeroDivisionError
    except ZeroDivisionError:
        pass
    async with one_connection.app_engine.connect() as connection:
        assert await connection.scalar(BACKEND) == lent
        assert await connection.scalar(SETTING) == ""
    assert await documents_of(one_connection, stranger.principal) == []


async def test_who_is_deactivated_in_mid_session_sees_nothing_more(database: Database, seed: Seed) -> None:
    world = a_world(seed)
    async with database.work(world.owner.principal) as work:
        assert (await work.session.scalars(DOCUMENTS)).all() != []
        seed.execute("UPDATE users SET is_active = false WHERE id = %s", world.owner.id)
        for table in ("documents", "knowledge_bases", "knowledge_base_members", "users", "organizations", "sessions"):
            assert await work.session.scalar(text(f"SELECT count(*) FROM {table}")) == 0, table


async def test_who_is_removed_from_a_knowledge_base_sees_its_documents_no_more(database: Database, seed: Seed) -> None:
    world = a_world(seed)
    assert len(await documents_of(database, world.member.principal)) == 5
    seed.execute("DELETE FROM knowledge_base_members WHERE user_id = %s", world.member.id)
    assert await documents_of(database, world.member.principal) == []
