import asyncio
from datetime import UTC, datetime, timedelta

import psycopg

from muniment.audit import sealing
from muniment.audit.hashing import INSTALLATION_CHAIN
from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.base import new_id
from muniment.storage.db.work import Database
from tests.audit.trail import Trail
from tests.support.seed import Seed

LINE = "INSERT INTO audit_events (id, action, actor, organization_id, payload) VALUES (%s, 'late', 'x', %s, '{}')"


async def test_events_are_numbered_without_a_gap_in_the_order_in_which_they_happened(trail: Trail) -> None:
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    later, sooner = trail.write(at=noon + timedelta(seconds=1))[0], trail.write(at=noon)[0]
    await trail.seal()
    last = trail.write(at=noon)[0]
    await trail.seal()
    assert trail.places() == [(1, sooner), (2, later), (3, last)]


async def test_sealing_again_changes_nothing(trail: Trail) -> None:
    trail.write(2)
    await trail.seal()
    before = trail.seed.rows("SELECT s::text FROM audit_seals s ORDER BY seq")
    await trail.seal()
    assert trail.seed.rows("SELECT s::text FROM audit_seals s ORDER BY seq") == before


async def test_an_event_that_is_committed_late_is_sealed_late_and_not_skipped(
    trail: Trail, address: DatabaseAddress
) -> None:
    late_id = new_id()
    with psycopg.connect(address.conninfo) as late:
        late.execute(LINE, (late_id, trail.organization_id))
        (sooner,) = trail.write()
        await trail.seal()
        late.commit()
    await trail.seal()
    assert trail.places() == [(1, sooner), (2, late_id)]


async def test_an_event_that_is_rolled_back_leaves_no_gap(trail: Trail, address: DatabaseAddress) -> None:
    with psycopg.connect(address.conninfo) as undone:
        undone.execute(LINE, (new_id(), trail.organization_id))
        undone.rollback()
    (kept,) = trail.write()
    await trail.seal()
    assert trail.places() == [(1, kept)]


async def test_of_many_sealers_at_once_each_event_gets_one_place(trail: Trail, database: Database) -> None:
    ids = trail.write(50)
    await asyncio.gather(*(trail.seal() for _ in range(5)))
    places = trail.places()
    assert [seq for seq, _ in places] == list(range(1, 51))
    assert sorted(event_id for _, event_id in places) == sorted(ids)


async def test_more_than_one_batch_is_sealed_in_one_go(trail: Trail) -> None:
    trail.seed.execute(
        """INSERT INTO audit_events (id, action, actor, organization_id, payload)
           SELECT gen_random_uuid(), 'test', 'x', %s, '{}' FROM generate_series(1, %s)""",
        trail.organization_id,
        sealing.BATCH + 1,
    )
    await trail.seal()
    assert [seq for seq, _ in trail.places()] == list(range(1, sealing.BATCH + 2))
    assert trail.seed.one("SELECT count(*) FROM audit_unsealed") == 0


async def test_each_organization_and_the_installation_have_a_chain_of_their_own(trail: Trail, seed: Seed) -> None:
    other = seed.organization()
    trail.write()
    trail.write(organization_id=other)
    trail.write(organization_id=None)
    for organization_id in (trail.organization_id, other, None):
        await trail.sealer.seal(organization_id)
    chains = seed.rows("SELECT chain, seq FROM audit_seals")
    assert sorted(chains) == sorted((chain, 1) for chain in (trail.organization_id, other, INSTALLATION_CHAIN))


async def test_sealing_one_chain_leaves_the_others_alone(trail: Trail, seed: Seed) -> None:
    trail.write(organization_id=seed.organization())
    await trail.seal()
    await trail.sealer.seal(None)
    assert seed.rows("SELECT * FROM audit_seals") == []
