"""Concurrent upload and collection: either the artifact stays, or the upload finds none and computes it.

Each side is paused while it holds its lock; PostgreSQL's lock table shows that the other one waits.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select

from muniment.artifacts.deletion import UnreferencedArtifactRepository
from muniment.artifacts.keys import ReadingVariant
from muniment.artifacts.repository import ArtifactKey, ArtifactRepository
from muniment.artifacts.tables import TextArtifact
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work
from tests.artifacts.artifacts_fixture import GRACE, NOW, ArtifactsFixture, a_key
from tests.support.jobs import wait_until

WAITING = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
REFER = "UPDATE documents SET artifact_text_id = %s WHERE id = %s"
DANGLING = """
    SELECT d.id FROM documents d LEFT JOIN artifacts_full_text a ON a.id = d.artifact_text_id
     WHERE d.artifact_text_id IS NOT NULL AND a.id IS NULL
"""

Remove = Callable[[ArtifactsFixture, TextArtifact], Awaitable[Any]]


async def sweep(artifacts_env: ArtifactsFixture, _: TextArtifact) -> None:
    await artifacts_env.collect(NOW + GRACE)


async def carry_out(artifacts_env: ArtifactsFixture, full: TextArtifact) -> None:
    await artifacts_env.ledger.process(artifacts_env.owner.organization_id)


def key_of(full: TextArtifact) -> ArtifactKey:
    return a_key(
        full.organization_id, full.content_hmac, ReadingVariant(full.algorithm_version, full.params_fingerprint)
    )


async def a_doomed_text(artifacts_env: ArtifactsFixture) -> TextArtifact:
    """Return an artifact that was marked long ago and whose last document was deleted."""
    full = await artifacts_env.add_artifact()
    await artifacts_env.collect(NOW)
    await artifacts_env.remove_document(artifacts_env.document(full), full.content_hmac)
    return full


async def refer(work: Work[Service], full: TextArtifact, document_id: UUID) -> None:
    connection = await work.session.connection()
    await connection.exec_driver_sql(REFER, (full.id, document_id))


async def until_somebody_waits(artifacts_env: ArtifactsFixture) -> None:
    await wait_until(lambda: artifacts_env.seed.one(WAITING))


@pytest.mark.parametrize("remove", [sweep, carry_out])
async def test_found_before_the_removal_and_referred_to_after_it_began_stays(
    artifacts_env: ArtifactsFixture, remove: Remove
) -> None:
    full = await a_doomed_text(artifacts_env)
    document_id = artifacts_env.seed.document(artifacts_env.kb_id, artifacts_env.owner)
    async with artifacts_env.database.service_work(artifacts_env.service) as work:
        found = await ArtifactRepository(work.session).find(key_of(full))
        assert found is not None
        removing = asyncio.ensure_future(remove(artifacts_env, full))
        await until_somebody_waits(artifacts_env)
        await refer(work, found, document_id)
    await removing

    assert artifacts_env.ids() == {full.id}
    assert await artifacts_env.packs() == {full.full_text_uri}
    assert artifacts_env.seed.rows(DANGLING) == []
    assert artifacts_env.list_open_entries() == (0 if remove is carry_out else 1)


@pytest.mark.parametrize("remove", [sweep, carry_out])
async def test_found_and_not_taken_goes_when_the_finder_has_ended(
    artifacts_env: ArtifactsFixture, remove: Remove
) -> None:
    full = await a_doomed_text(artifacts_env)
    async with artifacts_env.database.service_work(artifacts_env.service) as work:
        assert await ArtifactRepository(work.session).find(key_of(full)) is not None
        removing = asyncio.ensure_future(remove(artifacts_env, full))
        await until_somebody_waits(artifacts_env)
    await removing

    assert (artifacts_env.ids(), await artifacts_env.packs()) == (set(), set())


@pytest.mark.parametrize("remove", [sweep, carry_out])
async def test_referred_to_without_being_found_first_stays(artifacts_env: ArtifactsFixture, remove: Remove) -> None:
    full = await a_doomed_text(artifacts_env)
    document_id = artifacts_env.seed.document(artifacts_env.kb_id, artifacts_env.owner)
    async with artifacts_env.database.service_work(artifacts_env.service) as work:
        await refer(work, full, document_id)
        removing = asyncio.ensure_future(remove(artifacts_env, full))
        await until_somebody_waits(artifacts_env)
    await removing

    assert artifacts_env.ids() == {full.id}
    assert artifacts_env.seed.rows(DANGLING) == []


async def test_who_looks_during_the_removal_finds_nothing_and_computes(artifacts_env: ArtifactsFixture) -> None:
    full = await artifacts_env.add_artifact()
    async with artifacts_env.database.service_work(artifacts_env.service) as removal:
        assert (
            await UnreferencedArtifactRepository(removal.session).delete_if_unreferenced(full.id) == full.full_text_uri
        )
        looking = asyncio.ensure_future(find(artifacts_env, full))
        await until_somebody_waits(artifacts_env)
        assert not looking.done()
    assert await looking is None

    computed = await artifacts_env.add_artifact(key_of(full))
    assert artifacts_env.ids() == {computed.id} != {full.id}


async def test_who_looks_during_a_removal_that_fails_finds_it(artifacts_env: ArtifactsFixture) -> None:
    full = await artifacts_env.add_artifact()
    async with artifacts_env.database.service_work(artifacts_env.service) as removal:
        assert await UnreferencedArtifactRepository(removal.session).delete_if_unreferenced(full.id)
        looking = asyncio.ensure_future(find(artifacts_env, full))
        await until_somebody_waits(artifacts_env)
        await removal.session.rollback()
    assert await looking == full.id


async def test_who_keeps_the_same_during_the_removal_keeps_their_own(artifacts_env: ArtifactsFixture) -> None:
    full = await artifacts_env.add_artifact()
    async with artifacts_env.database.service_work(artifacts_env.service) as removal:
        assert await UnreferencedArtifactRepository(removal.session).delete_if_unreferenced(full.id)
        keeping = asyncio.ensure_future(artifacts_env.add_artifact(key_of(full)))
        await until_somebody_waits(artifacts_env)
    computed = await keeping

    assert artifacts_env.ids() == {computed.id} != {full.id}


async def test_of_two_removals_at_once_one_removes(artifacts_env: ArtifactsFixture) -> None:
    full = await a_doomed_text(artifacts_env)
    async with artifacts_env.database.service_work(artifacts_env.service) as work:
        assert await ArtifactRepository(work.session).find(key_of(full)) is not None
        both = asyncio.gather(sweep(artifacts_env, full), carry_out(artifacts_env, full))
        await wait_until(lambda: artifacts_env.seed.one(WAITING) == 2)
    await both

    assert (artifacts_env.ids(), await artifacts_env.packs(), artifacts_env.list_open_entries()) == (set(), set(), 0)
    assert artifacts_env.seed.one("SELECT count(*) FROM deletions WHERE store = 'blobs'") == 1


async def find(artifacts_env: ArtifactsFixture, full: TextArtifact) -> UUID | None:
    async with artifacts_env.database.service_work(artifacts_env.service) as work:
        found = await ArtifactRepository(work.session).find(key_of(full))
        return found.id if found else None


async def test_who_keeps_the_same_while_it_is_held_for_removal_keeps_their_own(artifacts_env: ArtifactsFixture) -> None:
    full = await artifacts_env.add_artifact()
    async with artifacts_env.database.service_work(artifacts_env.service) as removal:
        held = select(TextArtifact.id).where(TextArtifact.id == full.id).with_for_update()
        assert await removal.session.scalar(held) == full.id  # the first statement of `take`; it is not deleted yet
        keeping = asyncio.ensure_future(artifacts_env.add_artifact(key_of(full)))
        await until_somebody_waits(artifacts_env)
        assert await UnreferencedArtifactRepository(removal.session).delete_if_unreferenced(full.id)
    computed = await keeping

    assert artifacts_env.ids() == {computed.id} != {full.id}
