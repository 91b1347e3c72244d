"""The number of statements and commits of a purge, which determine its duration."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event

from tests.lifecycle.purge.harness import PurgeHarness
from tests.lifecycle.purge.test_bulk_purge import bulk, seeded


@contextmanager
def counted(purge_env: PurgeHarness) -> Iterator[Counter[str]]:
    """Count statements and commits by login."""
    counts: Counter[str] = Counter()
    database = purge_env.stores.database
    engines = {"app": database.app_engine.sync_engine, "service": database.service_engine.sync_engine}

    def statement(connection: Any, *_: Any) -> None:
        counts["app" if connection.engine is engines["app"] else "service"] += 1

    def commit(connection: Any) -> None:
        counts["app commits" if connection.engine is engines["app"] else "service commits"] += 1

    for engine in engines.values():
        event.listen(engine, "before_cursor_execute", statement)
        event.listen(engine, "commit", commit)
    yield counts
    for engine in engines.values():
        event.remove(engine, "before_cursor_execute", statement)
        event.remove(engine, "commit", commit)


async def test_a_document_costs_one_transaction_of_eleven_statements_and_proving_it_a_constant(
    purge_env: PurgeHarness,
) -> None:
    await purge_env.purge(await purge_env.archived())  # fill caches that live as long as the process
    document_id = await purge_env.archived()
    with counted(purge_env) as counts:
        assert (await purge_env.purge(document_id)).status_code == 200
    assert (counts["app"], counts["app commits"]) <= (1 + 11, 1)  # and one for authentication
    assert counts["service"] <= 35
    assert counts["service commits"] <= 11


async def test_proving_many_costs_as_many_statements_as_proving_a_few(purge_env: PurgeHarness) -> None:
    few, many = [await purge_env.archived() for _ in range(2)], [await purge_env.archived() for _ in range(6)]
    many += [seeded(purge_env) for _ in range(6)]
    with counted(purge_env) as for_few:
        assert (await bulk(purge_env, few)).json()["purged"] == 2
    with counted(purge_env) as for_many:
        assert (await bulk(purge_env, many)).json()["purged"] == 12
    assert for_many["service"] == for_few["service"]
    assert for_many["service commits"] == for_few["service commits"]
    assert for_many["app commits"] == 12 + 1  # one transaction each, and one for authentication
