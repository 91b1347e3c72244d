"""Long queues are listed in constant memory."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from uuid import UUID

import pytest

from muniment.handover.archiver.archiver import with_random_samples
from muniment.handover.job_key import JobKey
from muniment.handover.queue_listing import OldestEntries, QueueEntry, count_jobs, list_backlog
from muniment.storage.objects.folder.store import VersionedFolderStore
from muniment.storage.objects.port import ObjectInfo

ORGANIZATION = UUID(int=7)
START = datetime(2026, 5, 8, tzinfo=UTC)


def a_job(number: int, age: int) -> QueueEntry:
    key, written = JobKey(ORGANIZATION, "invoice", f"{number:064x}"), START - timedelta(minutes=age)
    return QueueEntry(key, ObjectInfo(key.pdf, 1, written), ObjectInfo(key.sidecar, 1, START))


def test_the_heap_keeps_the_oldest_and_never_more_than_its_limit() -> None:
    ages = list(range(5_000))
    Random(1).shuffle(ages)
    oldest = OldestEntries(100)

    for number, age in enumerate(ages):
        oldest.add(a_job(number, age))
        assert len(oldest) <= 100

    written = [job.pdf.modified_at for job in oldest.in_order() if job.pdf]
    assert written == [START - timedelta(minutes=age) for age in range(4_999, 4_899, -1)]


def test_jobs_of_the_same_moment_have_an_order_too() -> None:
    oldest = OldestEntries(2)
    for number in (3, 1, 2):
        oldest.add(a_job(number, 0))

    assert [job.key.sha256[-1] for job in oldest.in_order()] == ["1", "2"]


@pytest.fixture
async def queue(tmp_path: Path) -> VersionedFolderStore:
    """A queue with three jobs, one of them the oldest, and two incomplete ones."""
    queue = VersionedFolderStore(tmp_path, sync=lambda _: None)
    for number in range(5):
        key = a_job(number, 0).key
        for name in (key.pdf, key.sidecar)[number == 3 : 1 if number == 4 else 2]:
            await queue.put_if_absent(name, b"{}")
    os.utime(tmp_path / a_job(1, 0).key.pdf, (1, 1))
    return queue


async def test_jobs_are_counted_and_not_objects(queue: VersionedFolderStore) -> None:
    await queue.put_if_absent("archiver/lease.json", b"{}")

    assert (await list_backlog(queue, 10)).depth == 5
    assert await count_jobs(queue) == 5


async def test_the_oldest_come_first_and_halves_apart(queue: VersionedFolderStore) -> None:
    listing = await list_backlog(queue, 2)

    assert listing.jobs[0].key.sha256[-1] == "1"
    assert len(listing.jobs) == 2
    assert [job.key.sha256[-1] for job in listing.incomplete] == ["3", "4"]


def test_near_the_front_are_two_others_and_nobody_is_left_out_or_twice() -> None:
    jobs = [a_job(number, 0) for number in range(50)]

    order = with_random_samples(jobs, Random(1))

    assert order[:2] == jobs[:2]
    assert order[2:4] != jobs[2:4]
    assert sorted(order, key=lambda job: job.key) == jobs
    for few in range(5):
        assert len(with_random_samples(jobs[:few], Random(1))) == few
