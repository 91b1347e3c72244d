"""List the jobs of a store in constant memory: all jobs, one page with details, or the oldest N."""

import heapq
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from muniment.errors import NotFound
from muniment.handover.job_key import PREFIX, JobKey
from muniment.handover.sidecar import InvalidSidecar, Sidecar, parse_sidecar
from muniment.storage.objects.port import ObjectInfo, ObjectNotFound, VersionedObjectStore


class DeadLetterNotFound(NotFound):
    """Dead letter not found"""


@dataclass(frozen=True)
class QueueEntry:
    """A PDF and its sidecar, or one of them alone."""

    key: JobKey
    pdf: ObjectInfo | None
    sidecar: ObjectInfo | None

    @property
    def last_modified_at(self) -> datetime:
        """When the last of it was written."""
        return max(info.modified_at for info in (self.pdf, self.sidecar) if info is not None)


async def list_jobs(store: VersionedObjectStore, prefix: str = PREFIX) -> AsyncIterator[QueueEntry]:
    """In the order of their keys, in constant memory: PDF and sidecar of a job are neighbours."""
    key: JobKey | None = None
    found: dict[str, ObjectInfo] = {}
    async for info in store.list(prefix):
        of = JobKey.parse(info.key)
        if of is None:
            continue
        if key is not None and of != key:
            yield _build_entry(key, found)
            found = {}
        key, found[info.key] = of, info
    if key is not None:
        yield _build_entry(key, found)


def _build_entry(key: JobKey, found: dict[str, ObjectInfo]) -> QueueEntry:
    return QueueEntry(key, found.get(key.pdf), found.get(key.sidecar))


@dataclass(frozen=True)
class QueueEntryDetails:
    """A job with what its sidecar says, or why it cannot be read."""

    entry: QueueEntry
    sidecar: Sidecar | None
    problem: str | None


async def load_details(store: VersionedObjectStore, entry: QueueEntry) -> QueueEntryDetails:
    if entry.sidecar is None:
        return QueueEntryDetails(entry, None, "The sidecar is missing")
    try:
        sidecar = parse_sidecar((await store.get(entry.key.sidecar)).data)
    except ObjectNotFound:
        return QueueEntryDetails(entry, None, "The sidecar is missing")
    except InvalidSidecar as error:
        return QueueEntryDetails(entry, None, f"The sidecar cannot be read: {error}")
    return QueueEntryDetails(entry, sidecar, None if entry.pdf else "The PDF is missing")


async def list_page(store: VersionedObjectStore, *, offset: int, limit: int) -> tuple[list[QueueEntryDetails], int]:
    """One page, and how many jobs there are."""
    wanted, total = list[QueueEntry](), 0
    async for job in list_jobs(store):
        if offset <= total < offset + limit:
            wanted.append(job)
        total += 1
    return [await load_details(store, job) for job in wanted], total


class OldestEntries:
    """A bounded heap: the newest of what it holds is on top, and gives way."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._heap: list[tuple[float, _DescendingKey, QueueEntry]] = []

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, job: QueueEntry) -> None:
        entry = (-_queued_at(job).timestamp(), _DescendingKey(job.key), job)
        if len(self._heap) < self._limit:
            heapq.heappush(self._heap, entry)
        else:
            heapq.heappushpop(self._heap, entry)

    def in_order(self) -> list[QueueEntry]:
        """The oldest first."""
        return [job for _, _, job in sorted(self._heap, reverse=True)]


@dataclass(frozen=True)
class _DescendingKey:
    key: JobKey

    def __lt__(self, other: "_DescendingKey") -> bool:
        return self.key > other.key


def _queued_at(entry: QueueEntry) -> datetime:
    """Of the PDF: a sidecar is written again with every note."""
    first = entry.pdf or entry.sidecar
    assert first is not None
    return first.modified_at


@dataclass
class Backlog:
    depth: int = 0
    """How many jobs there are; halves of jobs are counted, too."""
    jobs: Sequence[QueueEntry] = ()
    incomplete: Sequence[QueueEntry] = field(default=())


async def list_backlog(queue: VersionedObjectStore, limit: int) -> Backlog:
    """The `limit` oldest jobs, and as many halves of jobs."""
    depth, jobs, halves = 0, OldestEntries(limit), OldestEntries(limit)
    async for job in list_jobs(queue):
        depth += 1
        (jobs if job.pdf and job.sidecar else halves).add(job)
    return Backlog(depth, jobs.in_order(), halves.in_order())


async def count_jobs(store: VersionedObjectStore) -> int:
    return await _count(list_jobs(store))


async def _count(jobs: AsyncIterator[QueueEntry]) -> int:
    counted = 0
    async for _ in jobs:
        counted += 1
    return counted
