"""The connections of the queue: one round trip per statement, and no dead connections."""

from datetime import timedelta

import psycopg
from procrastinate import PsycopgConnector

from muniment.storage.db.address import DatabaseAddress
from muniment.storage.tasks.procrastinate.connector import build_queue_app
from tests.storage.tasks.test_database_unavailable import CUT_OFF
from tests.support.cluster import service_login
from tests.support.seed import Seed

PATIENCE = timedelta(seconds=5)


async def test_a_statement_of_the_queue_counts_at_once(address: DatabaseAddress) -> None:
    app = build_queue_app(service_login(address), timeout=PATIENCE)
    assert isinstance(app.connector, PsycopgConnector)
    async with app.open_async(), app.connector.pool.connection() as connection:
        await connection.execute("SELECT 1")
        assert connection.info.transaction_status is psycopg.pq.TransactionStatus.IDLE


async def test_a_connection_that_was_cut_while_it_rested_is_not_noticed(address: DatabaseAddress, seed: Seed) -> None:
    app = build_queue_app(service_login(address), timeout=PATIENCE, idle_seconds=0)
    async with app.open_async():
        await app.connector.execute_query_async("SELECT 1")
        assert seed.one(CUT_OFF) == 1
        await app.connector.execute_query_async("SELECT 1")


async def test_a_connection_that_has_hardly_rested_is_not_asked(address: DatabaseAddress) -> None:
    app = build_queue_app(service_login(address), timeout=PATIENCE, idle_seconds=3600)
    assert isinstance(app.connector, PsycopgConnector)
    async with app.open_async():
        async with app.connector.pool.connection() as connection:
            driver = connection
        driver.pgconn.finish()  # a query would notice it
        async with app.connector.pool.connection() as connection:
            assert connection is driver
