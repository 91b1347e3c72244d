"""Objects written before their row are deleted by the ledger unless confirmed (docs/design.md#reservations)."""

import asyncio
from pathlib import Path

import pytest

from muniment.storage.db.base import new_id
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.storage.deletions.deleters import ObjectDeleter
from muniment.storage.deletions.ledger import (
    RESERVATION_LIFETIME,
    Ledger,
    LedgerRepository,
    Reservation,
    ReservationExpired,
    reserve,
)
from muniment.storage.deletions.tables import LedgerStore
from muniment.storage.objects.folder.store import FolderObjectStore
from tests.support.jobs import wait_until
from tests.support.seed import Seed

KEY = "artifacts/shared/pack"
WAITING = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


class ReservationHarness:
    """An organization with one reserved object in a real store."""

    def __init__(self, database: Database, seed: Seed, folder: Path) -> None:
        self.database, self.seed = database, seed
        self.objects = FolderObjectStore(folder)
        self.ledger = Ledger(database, {LedgerStore.OBJECTS: ObjectDeleter(self.objects)})
        self.organization_id = seed.organization()

    async def reserve(self) -> Reservation:
        async with self.database.service_work(Service(self.organization_id)) as work:
            reservation = await reserve(work, KEY, kb_id=new_id(), document_id=new_id())
        await self.objects.put(KEY, b"bytes")
        return reservation

    async def confirm(self, reservation: Reservation) -> None:
        async with self.database.service_work(Service(self.organization_id)) as work:
            await reservation.confirm(work)

    async def process(self) -> int:
        return await self.ledger.process(self.organization_id)

    def pass_time(self) -> None:
        self.seed.execute("UPDATE deletions SET next_attempt_at = now()")

    async def keys(self) -> list[str]:
        return [info.key async for info in self.objects.list()]


@pytest.fixture
def reservation_env(database: Database, seed: Seed, tmp_path: Path) -> ReservationHarness:
    return ReservationHarness(database, seed, tmp_path)


async def test_what_is_kept_stays_for_ever(reservation_env: ReservationHarness) -> None:
    await reservation_env.confirm(await reservation_env.reserve())
    reservation_env.pass_time()
    assert await reservation_env.process() == 0
    assert await reservation_env.keys() == [KEY]
    assert reservation_env.seed.one("SELECT count(*) FROM deletions") == 0


async def test_what_is_never_kept_goes_when_its_time_is_over_and_not_before(
    reservation_env: ReservationHarness,
) -> None:
    await reservation_env.reserve()
    await reservation_env.process()
    assert await reservation_env.keys() == [KEY]
    due = "SELECT next_attempt_at - now() BETWEEN %s - interval '1 minute' AND %s FROM deletions"
    assert reservation_env.seed.one(due, RESERVATION_LIFETIME, RESERVATION_LIFETIME)

    reservation_env.pass_time()
    await reservation_env.process()

    assert await reservation_env.keys() == []
    assert reservation_env.seed.rows("SELECT reason, outcome FROM deletions") == [("never_kept", "erased")]


async def test_a_reservation_of_a_transaction_that_failed_is_none(reservation_env: ReservationHarness) -> None:
    async with reservation_env.database.service_work(Service(reservation_env.organization_id)) as work:
        reservation = await reserve(work, KEY, kb_id=new_id(), document_id=new_id())
        await work.session.rollback()
    with pytest.raises(ReservationExpired):
        await reservation_env.confirm(reservation)


async def test_keeping_that_is_undone_leaves_the_bytes_to_the_ledger(reservation_env: ReservationHarness) -> None:
    reservation = await reservation_env.reserve()
    async with reservation_env.database.service_work(Service(reservation_env.organization_id)) as work:
        await reservation.confirm(work)
        await work.session.rollback()
    reservation_env.pass_time()
    await reservation_env.process()
    assert await reservation_env.keys() == []


async def test_who_comes_too_late_is_told_and_keeps_nothing(reservation_env: ReservationHarness) -> None:
    reservation = await reservation_env.reserve()
    reservation_env.pass_time()
    await reservation_env.process()
    with pytest.raises(ReservationExpired):
        await reservation_env.confirm(reservation)


async def test_who_comes_while_it_is_being_erased_is_told_too(reservation_env: ReservationHarness) -> None:
    reservation = await reservation_env.reserve()
    reservation_env.pass_time()
    async with reservation_env.database.service_work(Service(reservation_env.organization_id)) as work:
        taken = await LedgerRepository(work.session).claim_due(None, limit=1)
        assert [line.id for line in taken] == [reservation.entry_id]
        keeping = asyncio.ensure_future(reservation_env.confirm(reservation))
        await wait_until(lambda: reservation_env.seed.one(WAITING))
    with pytest.raises(ReservationExpired):
        await keeping


async def test_the_ledger_passes_over_what_is_being_kept(reservation_env: ReservationHarness) -> None:
    reservation = await reservation_env.reserve()
    reservation_env.pass_time()
    async with reservation_env.database.service_work(Service(reservation_env.organization_id)) as work:
        await reservation.confirm(work)
        await reservation_env.process()
    assert await reservation_env.keys() == [KEY]
    assert reservation_env.seed.one("SELECT count(*) FROM deletions") == 0


async def test_a_reservation_is_kept_once(reservation_env: ReservationHarness) -> None:
    reservation = await reservation_env.reserve()
    await reservation_env.confirm(reservation)
    with pytest.raises(ReservationExpired):
        await reservation_env.confirm(reservation)


async def test_another_organization_cannot_keep_it(reservation_env: ReservationHarness) -> None:
    reservation = await reservation_env.reserve()
    reservation_env.organization_id = reservation_env.seed.organization()
    with pytest.raises(ReservationExpired):
        await reservation_env.confirm(reservation)
    assert reservation_env.seed.one("SELECT count(*) FROM deletions") == 1
