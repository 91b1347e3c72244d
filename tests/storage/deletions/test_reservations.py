"""Bytes that are written before their row: whoever never keeps them loses them to the ledger (DESIGN §7)."""

import asyncio
from pathlib import Path

import pytest

from muniment.storage.db.base import new_id
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.storage.deletions.deleters import BlobEraser
from muniment.storage.deletions.ledger import (
    LIFETIME,
    DeletionRepository,
    Ledger,
    Reservation,
    ReservationGone,
    reserve,
)
from muniment.storage.deletions.tables import Store
from muniment.storage.objects.folder.store import FolderBlobs
from tests.support.jobs import until
from tests.support.seed import Seed

KEY = "artifacts/shared/pack"
WAITING = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


class Bench:
    """An organization with one reserved object in a real store."""

    def __init__(self, database: Database, seed: Seed, folder: Path) -> None:
        self.database, self.seed = database, seed
        self.blobs = FolderBlobs(folder)
        self.ledger = Ledger(database, {Store.BLOBS: BlobEraser(self.blobs)})
        self.organization_id = seed.organization()

    async def reserve(self) -> Reservation:
        async with self.database.service_work(Service(self.organization_id)) as work:
            reservation = await reserve(work, KEY, kb_id=new_id(), document_id=new_id())
        await self.blobs.put(KEY, b"bytes")
        return reservation

    async def keep(self, reservation: Reservation) -> None:
        async with self.database.service_work(Service(self.organization_id)) as work:
            await reservation.keep(work)

    async def carry_out(self) -> int:
        return await self.ledger.carry_out(self.organization_id)

    def pass_time(self) -> None:
        self.seed.execute("UPDATE deletions SET next_attempt_at = now()")

    async def keys(self) -> list[str]:
        return [info.key async for info in self.blobs.list()]


@pytest.fixture
def bench(database: Database, seed: Seed, tmp_path: Path) -> Bench:
    return Bench(database, seed, tmp_path)


async def test_what_is_kept_stays_for_ever(bench: Bench) -> None:
    await bench.keep(await bench.reserve())
    bench.pass_time()
    assert await bench.carry_out() == 0
    assert await bench.keys() == [KEY]
    assert bench.seed.one("SELECT count(*) FROM deletions") == 0


async def test_what_is_never_kept_goes_when_its_time_is_over_and_not_before(bench: Bench) -> None:
    await bench.reserve()
    await bench.carry_out()
    assert await bench.keys() == [KEY]
    due = "SELECT next_attempt_at - now() BETWEEN %s - interval '1 minute' AND %s FROM deletions"
    assert bench.seed.one(due, LIFETIME, LIFETIME)

    bench.pass_time()
    await bench.carry_out()

    assert await bench.keys() == []
    assert bench.seed.rows("SELECT reason, outcome FROM deletions") == [("never_kept", "erased")]


async def test_a_reservation_of_a_transaction_that_failed_is_none(bench: Bench) -> None:
    async with bench.database.service_work(Service(bench.organization_id)) as work:
        reservation = await reserve(work, KEY, kb_id=new_id(), document_id=new_id())
        await work.session.rollback()
    with pytest.raises(ReservationGone):
        await bench.keep(reservation)


async def test_keeping_that_is_undone_leaves_the_bytes_to_the_ledger(bench: Bench) -> None:
    reservation = await bench.reserve()
    async with bench.database.service_work(Service(bench.organization_id)) as work:
        await reservation.keep(work)
        await work.session.rollback()
    bench.pass_time()
    await bench.carry_out()
    assert await bench.keys() == []


async def test_who_comes_too_late_is_told_and_keeps_nothing(bench: Bench) -> None:
    reservation = await bench.reserve()
    bench.pass_time()
    await bench.carry_out()
    with pytest.raises(ReservationGone):
        await bench.keep(reservation)


async def test_who_comes_while_it_is_being_erased_is_told_too(bench: Bench) -> None:
    reservation = await bench.reserve()
    bench.pass_time()
    async with bench.database.service_work(Service(bench.organization_id)) as work:
        taken = await DeletionRepository(work.session).take_due(None, limit=1)
        assert [line.id for line in taken] == [reservation.line_id]
        keeping = asyncio.ensure_future(bench.keep(reservation))
        await until(lambda: bench.seed.one(WAITING))
    with pytest.raises(ReservationGone):
        await keeping


async def test_the_ledger_passes_over_what_is_being_kept(bench: Bench) -> None:
    reservation = await bench.reserve()
    bench.pass_time()
    async with bench.database.service_work(Service(bench.organization_id)) as work:
        await reservation.keep(work)
        await bench.carry_out()
    assert await bench.keys() == [KEY]
    assert bench.seed.one("SELECT count(*) FROM deletions") == 0


async def test_a_reservation_is_kept_once(bench: Bench) -> None:
    reservation = await bench.reserve()
    await bench.keep(reservation)
    with pytest.raises(ReservationGone):
        await bench.keep(reservation)


async def test_another_organization_cannot_keep_it(bench: Bench) -> None:
    reservation = await bench.reserve()
    bench.organization_id = bench.seed.organization()
    with pytest.raises(ReservationGone):
        await bench.keep(reservation)
    assert bench.seed.one("SELECT count(*) FROM deletions") == 1
