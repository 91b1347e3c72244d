"""Artifacts are inserted once, never overwritten, and accessible only to the service login."""

import asyncio
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import sql
from psycopg.errors import InsufficientPrivilege
from sqlalchemy import select

from muniment.artifacts.keys import ReadingVariant
from muniment.artifacts.repository import BATCH_ROWS, ArtifactKey, ArtifactRepository
from muniment.artifacts.tables import ArtifactDiagram, ArtifactPage, TextArtifact
from muniment.artifacts.text_packs import TextPackWriter
from muniment.errors import Forbidden
from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.principal import Service
from tests.artifacts.artifacts_fixture import OTHER_VARIANT, VARIANT, ArtifactsFixture, a_key, a_reading
from tests.support.cluster import app_login, service_login
from tests.support.jobs import wait_until

TABLES = ("artifacts_full_text", "artifact_pages", "artifact_paragraphs", "artifact_diagrams")
WAITING = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
COLUMNS = "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"


def contents(artifacts_env: ArtifactsFixture) -> list[list[tuple[Any, ...]]]:
    return [artifacts_env.seed.rows(f"SELECT t::text FROM {table} t ORDER BY 1") for table in TABLES]


async def add(artifacts_env: ArtifactsFixture, key: ArtifactKey, *pages: str) -> tuple[TextArtifact, bool]:
    async with artifacts_env.database.service_work(artifacts_env.service) as work:
        return await ArtifactRepository(work.session).add_once(
            key, a_reading(TextPackWriter(key.organization_id), pages)
        )


async def find(artifacts_env: ArtifactsFixture, key: ArtifactKey, service: Service | None = None) -> UUID | None:
    async with artifacts_env.database.service_work(service or artifacts_env.service) as work:
        found = await ArtifactRepository(work.session).find(key)
        return found.id if found else None


@pytest.fixture
def key(artifacts_env: ArtifactsFixture) -> ArtifactKey:
    return a_key(artifacts_env.owner.organization_id)


async def test_what_was_added_is_found_with_all_its_parts_in_order(
    artifacts_env: ArtifactsFixture, key: ArtifactKey
) -> None:
    texts = [f"page {number}" for number in range(1, 13)]
    full, is_ours = await add(artifacts_env, key, *texts)
    assert is_ours
    async with artifacts_env.database.service_work(artifacts_env.service) as work:
        artifacts = ArtifactRepository(work.session)
        await artifacts.add_missing_diagrams(full.id)
        found = await artifacts.find(key)
        assert found is not None
        assert (await artifacts.get(full.id)).id == found.id == full.id
        pages = list(await work.session.scalars(select(ArtifactPage).order_by(ArtifactPage.page_number)))
        assert [page.page_number for page in pages] == list(range(1, 13))
        assert pages[-1].page_text_uri.startswith(f"{found.full_text_uri}#bytes=")
        paragraphs = await artifacts.list_paragraphs(found, [11, 2])
        assert [(item.page_number, item.paragraph_index) for item in paragraphs] == [(2, 0), (11, 0)]
        diagrams = list(await work.session.scalars(select(ArtifactDiagram).order_by(ArtifactDiagram.page_number)))
        assert [item.page_number for item in diagrams] == list(range(1, 13))
        assert {item.diagram_key for item in diagrams} == {"p1-abc"}
        assert (found.total_pages, found.problems, found.unreferenced_at) == (12, [], None)


async def test_more_pages_than_one_statement_takes_are_all_there(
    artifacts_env: ArtifactsFixture, key: ArtifactKey
) -> None:
    count = BATCH_ROWS + 1
    await add(artifacts_env, key, *("x" for _ in range(count)))
    numbers = "SELECT count(*), min(page_number), max(page_number) FROM {}"
    for table in ("artifact_pages", "artifact_paragraphs"):
        assert artifacts_env.seed.rows(numbers.format(table)) == [(count, 1, count)]


async def test_the_second_gets_what_the_first_made_and_changes_nothing(
    artifacts_env: ArtifactsFixture, key: ArtifactKey
) -> None:
    first, _ = await add(artifacts_env, key, "what the first read")
    before = contents(artifacts_env)

    second, is_ours = await add(artifacts_env, key, "what the second read", "and one page more")

    assert (second.id, second.full_text_uri, is_ours) == (first.id, first.full_text_uri, False)
    assert contents(artifacts_env) == before


async def test_diagrams_are_made_once(artifacts_env: ArtifactsFixture, key: ArtifactKey) -> None:
    full, _ = await add(artifacts_env, key, "one", "two")
    for _ in range(2):
        async with artifacts_env.database.service_work(artifacts_env.service) as work:
            await ArtifactRepository(work.session).add_missing_diagrams(full.id)
    assert artifacts_env.part_counts() == [2, 2, 2]


async def test_another_variant_is_another_artifact(artifacts_env: ArtifactsFixture, key: ArtifactKey) -> None:
    keys = [key, a_key(key.organization_id, key.content_key, OTHER_VARIANT)]
    keys.append(a_key(key.organization_id, key.content_key, ReadingVariant(2, VARIANT.params_fingerprint)))
    added = [(await add(artifacts_env, each, "text"))[0].id for each in keys]
    assert len(set(added)) == 3
    assert [await find(artifacts_env, each) for each in keys] == added


async def test_the_newest_of_a_version_is_found_whatever_its_parameters(
    artifacts_env: ArtifactsFixture, key: ArtifactKey
) -> None:
    older, _ = await add(artifacts_env, key, "older")
    newer, _ = await add(artifacts_env, a_key(key.organization_id, key.content_key, OTHER_VARIANT), "newer")
    assert older.id != newer.id
    async with artifacts_env.database.service_work(artifacts_env.service) as work:
        artifacts = ArtifactRepository(work.session)
        found = await artifacts.find_newest(key.content_key, VARIANT.algorithm_version)
        assert found is not None
        assert found.id == newer.id
        assert await artifacts.find_newest(key.content_key, VARIANT.algorithm_version + 1) is None


@pytest.mark.parametrize("first_commits", [True, False])
async def test_of_two_that_add_at_once_one_stays_and_both_have_it(
    artifacts_env: ArtifactsFixture, key: ArtifactKey, first_commits: bool
) -> None:
    async with artifacts_env.database.service_work(artifacts_env.service) as work:
        first, _ = await ArtifactRepository(work.session).add_once(key, a_reading(TextPackWriter(None), ["first"]))
        first_id = first.id
        adding = asyncio.ensure_future(add(artifacts_env, key, "second", "with two pages"))
        await wait_until(lambda: artifacts_env.seed.one(WAITING))
        if not first_commits:
            await work.session.rollback()
    second, is_ours = await adding

    assert is_ours is not first_commits
    assert (second.id == first_id) is first_commits
    assert artifacts_env.ids() == {second.id}
    pages = 1 if first_commits else 2
    assert artifacts_env.part_counts() == [pages, pages, 0]


async def test_concurrent_adds_store_one_artifact(artifacts_env: ArtifactsFixture, key: ArtifactKey) -> None:
    added = await asyncio.gather(*(add(artifacts_env, key, f"by {number}") for number in range(8)))
    assert len({full.full_text_uri for full, _ in added}) == 1
    assert sum(is_ours for _, is_ours in added) == 1
    assert artifacts_env.part_counts() == [1, 1, 0]


async def test_artifacts_of_an_organization_are_found_by_its_jobs_alone(
    artifacts_env: ArtifactsFixture, key: ArtifactKey
) -> None:
    full, _ = await add(artifacts_env, key, "text")
    stranger = Service(artifacts_env.seed.organization())
    assert await find(artifacts_env, key) == full.id
    assert await find(artifacts_env, key, stranger) is None
    assert await find(artifacts_env, key, Service()) is None


async def test_shared_artifacts_are_found_by_the_jobs_of_all(artifacts_env: ArtifactsFixture) -> None:
    key = a_key(None)
    full, _ = await add(artifacts_env, key, "text")
    assert await find(artifacts_env, key, Service(artifacts_env.seed.organization())) == full.id


async def test_nobody_adds_in_the_name_of_another_organization(artifacts_env: ArtifactsFixture) -> None:
    with pytest.raises(Forbidden):
        await add(artifacts_env, a_key(artifacts_env.seed.organization()), "text")
    assert artifacts_env.ids() == set()


@pytest.mark.parametrize("table", TABLES)
async def test_no_request_reaches_an_artifact_table(
    artifacts_env: ArtifactsFixture, address: DatabaseAddress, table: str
) -> None:
    await artifacts_env.add_artifact()
    before = contents(artifacts_env)
    statements = ("SELECT FROM {}", "DELETE FROM {}", "UPDATE {} SET content_hmac = ''", "TRUNCATE {}")
    insert = "INSERT INTO {} (content_hmac, algorithm_version, params_fingerprint) VALUES ('', 1, '')"
    with psycopg.connect(app_login(address).conninfo, autocommit=True) as connection:
        connection.execute("SELECT set_config('app.user_id', %s, false)", (str(artifacts_env.owner.id),))
        for statement in (*statements, insert):
            with pytest.raises(InsufficientPrivilege):
                connection.execute(sql.SQL(statement).format(sql.Identifier(table)))
    assert contents(artifacts_env) == before


async def test_no_request_asks_whether_an_artifact_is_used(
    artifacts_env: ArtifactsFixture, address: DatabaseAddress
) -> None:
    with psycopg.connect(app_login(address).conninfo) as connection, pytest.raises(InsufficientPrivilege):
        connection.execute("SELECT app_artifact_is_used(gen_random_uuid())")


@pytest.mark.parametrize("table", TABLES)
async def test_not_even_a_worker_may_overwrite_an_artifact(
    artifacts_env: ArtifactsFixture, address: DatabaseAddress, table: str
) -> None:
    await artifacts_env.add_artifact()
    before = contents(artifacts_env)
    columns = {name for (name,) in artifacts_env.seed.rows(COLUMNS, table)}
    assert len(columns) > 7
    with psycopg.connect(service_login(address).conninfo, autocommit=True) as connection:
        connection.execute(
            "SELECT set_config('app.organization_id', %s, false)", (str(artifacts_env.owner.organization_id),)
        )
        for column in columns - {"unreferenced_at"}:
            change = sql.SQL("UPDATE {0} SET {1} = {1}").format(sql.Identifier(table), sql.Identifier(column))
            with pytest.raises(InsufficientPrivilege):
                connection.execute(change)
        with pytest.raises(InsufficientPrivilege):
            connection.execute(sql.SQL("TRUNCATE {}").format(sql.Identifier(table)))
    assert contents(artifacts_env) == before


async def test_the_mark_of_the_collection_is_all_that_changes(
    artifacts_env: ArtifactsFixture, address: DatabaseAddress
) -> None:
    full = await artifacts_env.add_artifact()
    with psycopg.connect(service_login(address).conninfo, autocommit=True) as connection:
        mark = "UPDATE artifacts_full_text SET unreferenced_at = now()"
        assert connection.execute(mark).rowcount == 0  # without an organization it sees none
        connection.execute(
            "SELECT set_config('app.organization_id', %s, false)", (str(artifacts_env.owner.organization_id),)
        )
        assert connection.execute(mark).rowcount == 1
    assert artifacts_env.seed.one("SELECT unreferenced_at IS NOT NULL FROM artifacts_full_text WHERE id = %s", full.id)
