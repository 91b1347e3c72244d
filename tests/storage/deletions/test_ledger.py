"""The ledger of deletions: no entry is lost, processed twice at the same time, or visible to others."""

import asyncio
from pathlib import Path
from uuid import UUID

import pytest

from muniment.errors import Unavailable
from muniment.storage.db.base import new_id
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.storage.deletions.deleters import DeletionResult, ObjectDeleter, ObjectStillExists
from muniment.storage.deletions.ledger import Ledger, LedgerRepository, NewLedgerEntry
from muniment.storage.deletions.tables import LedgerEntry, LedgerStore
from muniment.storage.objects.folder.store import FolderObjectStore
from tests.support.seed import Seed


class RecordingDeleter:
    """Records its targets, and fails for the configured ones."""

    def __init__(self, *fails: str) -> None:
        self.erased: list[str] = []
        self.fails = set(fails)

    async def delete(self, entry: LedgerEntry) -> DeletionResult:
        await asyncio.sleep(0)
        if entry.target in self.fails:
            raise Unavailable("The store does not answer")
        self.erased.append(entry.target)
        return DeletionResult()


class NonDeletingObjectStore(FolderObjectStore):
    """Reports deletions that it did not make."""

    async def delete(self, key: str) -> None:
        pass


async def add_entries(database: Database, organization_id: UUID, *targets: str) -> list[UUID]:
    lines = [
        NewLedgerEntry(organization_id, new_id(), new_id(), LedgerStore.OBJECTS, target, reason="test")
        for target in targets
    ]
    async with database.service_work(Service(organization_id)) as work:
        return await LedgerRepository(work.session).add(lines)


async def test_lines_are_carried_out_once(database: Database, seed: Seed) -> None:
    organization_id, eraser = seed.organization(), RecordingDeleter()
    await add_entries(database, organization_id, "a", "b")
    ledger = Ledger(database, {LedgerStore.OBJECTS: eraser})

    assert await ledger.process(organization_id) == 0
    assert await ledger.process(organization_id) == 0

    assert sorted(eraser.erased) == ["a", "b"]
    assert seed.one("SELECT count(*) FROM deletions WHERE done_at IS NULL") == 0


async def test_only_the_lines_that_are_named_are_carried_out(database: Database, seed: Seed) -> None:
    organization_id, eraser = seed.organization(), RecordingDeleter()
    [_, second] = await add_entries(database, organization_id, "a", "b")

    await Ledger(database, {LedgerStore.OBJECTS: eraser}).process(organization_id, [second])

    assert eraser.erased == ["b"]


async def test_failure_is_noted_waits_longer_each_time_and_does_not_stop_the_others(
    database: Database, seed: Seed
) -> None:
    organization_id, eraser = seed.organization(), RecordingDeleter("a")
    await add_entries(database, organization_id, "a", "b")
    ledger = Ledger(database, {LedgerStore.OBJECTS: eraser})
    waits = []
    for _ in range(3):
        assert await ledger.process(organization_id) == 1
        waits.append(
            seed.one("SELECT round(extract(epoch FROM next_attempt_at - now())) FROM deletions WHERE target = 'a'")
        )
        assert await ledger.process(organization_id) == 0  # it is not due yet
        seed.execute("UPDATE deletions SET next_attempt_at = now() WHERE target = 'a'")

    assert eraser.erased == ["b"]
    assert waits == [1, 2, 4]
    assert seed.rows("SELECT attempts, last_error FROM deletions WHERE target = 'a'") == [
        (3, "The store does not answer")
    ]


async def test_wait_is_an_hour_at_most(database: Database, seed: Seed) -> None:
    organization_id = seed.organization()
    await add_entries(database, organization_id, "a")
    seed.execute("UPDATE deletions SET attempts = 1000000")

    await Ledger(database, {LedgerStore.OBJECTS: RecordingDeleter("a")}).process(organization_id)

    assert seed.one("SELECT next_attempt_at - now() BETWEEN '59 minutes' AND '1 hour' FROM deletions")


async def test_success_after_a_failure_forgets_the_error(database: Database, seed: Seed) -> None:
    organization_id, eraser = seed.organization(), RecordingDeleter("a")
    await add_entries(database, organization_id, "a")
    ledger = Ledger(database, {LedgerStore.OBJECTS: eraser})
    await ledger.process(organization_id)
    eraser.fails.clear()
    seed.execute("UPDATE deletions SET next_attempt_at = now()")

    await ledger.process(organization_id)

    assert seed.rows("SELECT outcome, done_at IS NOT NULL, last_error FROM deletions") == [("erased", True, None)]


async def test_two_at_once_share_the_lines(database: Database, seed: Seed) -> None:
    organization_id, eraser = seed.organization(), RecordingDeleter()
    targets = [f"{number:02}" for number in range(20)]
    await add_entries(database, organization_id, *targets)
    ledger = Ledger(database, {LedgerStore.OBJECTS: eraser})

    await asyncio.gather(*(ledger.process(organization_id, limit=10) for _ in range(4)))

    assert sorted(eraser.erased) == targets


async def test_lines_of_another_organization_are_left_alone(database: Database, seed: Seed) -> None:
    mine, foreign, eraser = seed.organization(), seed.organization(), RecordingDeleter()
    ids = await add_entries(database, foreign, "a")

    await Ledger(database, {LedgerStore.OBJECTS: eraser}).process(mine, ids)

    assert eraser.erased == []


async def test_pending_lines_are_counted_with_the_age_of_the_oldest(database: Database, seed: Seed) -> None:
    organization_id = seed.organization()
    await add_entries(database, organization_id, "a", "b", "c")
    seed.execute("UPDATE deletions SET done_at = now(), created_at = now() - interval '1 year' WHERE target = 'a'")
    seed.execute("UPDATE deletions SET created_at = now() - interval '1 minute' WHERE target = 'b'")

    async with database.service_work(Service(organization_id)) as work:
        count, age_seconds = await LedgerRepository(work.session).count_pending()

    assert count == 2
    assert 60 <= age_seconds < 120


@pytest.fixture
def objects(tmp_path: Path) -> FolderObjectStore:
    return FolderObjectStore(tmp_path)


async def test_erased_object_was_seen_to_be_gone(objects: FolderObjectStore) -> None:
    await objects.put("a/x", b"bytes")
    for _ in range(2):  # a missing object is not an error
        await ObjectDeleter(objects).delete(LedgerEntry(target="a/x"))
    assert [info.key async for info in objects.list()] == []


async def test_store_that_only_says_so_is_not_believed(objects: FolderObjectStore, tmp_path: Path) -> None:
    await objects.put("a/x", b"bytes")
    with pytest.raises(ObjectStillExists):
        await ObjectDeleter(NonDeletingObjectStore(tmp_path)).delete(LedgerEntry(target="a/x"))
