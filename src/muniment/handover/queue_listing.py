"""List the jobs of a store in constant memory: all jobs, one page with details, or the oldest N."""

import asyncio
import heapq
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from muniment.errors import NotFound
from muniment.handover.job_key import PREFIX, JobKey
from muniment.handover.sidecar import InvalidSidecar, Sidecar, parse_sidecar
from muniment.storage.objects.port import ObjectInfo, ObjectNotFound, VersionedObjectStore

NO_REASON = "No reason was recorded"


class DeadLetterNotFound(NotFound):
    """Dead letter not found"""


@dataclass(frozen=True)
class QueueEntry:
    """A job in a store: its PDF and its sidecar, or only one of them."""

    key: JobKey
    pdf: ObjectInfo | None
    sidecar: ObjectInfo | None

    @property
    def last_modified_at(self) -> datetime:
        """Time of the last change of either object."""
        return max(info.modified_at for info in (self.pdf, self.sidecar) if info is not None)


async def list_jobs(store: VersionedObjectStore, prefix: str = PREFIX) -> AsyncIterator[QueueEntry]:
    """Yield the jobs in the order of their keys, in constant memory: PDF and sidecar of a job are neighbours."""
    key: JobKey | None = None
    found: dict[str, ObjectInfo] = {}
    async for info in store.list(prefix):
        info_key = JobKey.parse(info.key)
        if info_key is None:
            continue
        if key is not None and info_key != key:
            yield _build_entry(key, found)
            found = {}
        key, found[info.key] = info_key, info
    if key is not None:
        yield _build_entry(key, found)


def _build_entry(key: JobKey, found: dict[str, ObjectInfo]) -> QueueEntry:
    return QueueEntry(key, found.get(key.pdf), found.get(key.sidecar))


@dataclass(frozen=True)
class QueueEntryDetails:
    """A job with its sidecar, or with the reason why it cannot be read."""

    entry: QueueEntry
    sidecar: Sidecar | None
    problem: str | None

    @property
    def reason(self) -> str | None:
        """Reason, for people, why the job is a dead letter or was not sent yet."""
        return (self.sidecar.last_error if self.sidecar else None) or self.problem


async def load_details(store: VersionedObjectStore, entry: QueueEntry) -> QueueEntryDetails:
    if entry.sidecar is None:
        return QueueEntryDetails(entry, None, "The sidecar is missing")
    try:
        sidecar = parse_sidecar(await store.get(entry.key.sidecar))
    except ObjectNotFound:
        return QueueEntryDetails(entry, None, "The sidecar is missing")
    except InvalidSidecar as error:
        return QueueEntryDetails(entry, None, f"The sidecar cannot be read: {error}")
    return QueueEntryDetails(entry, sidecar, None if entry.pdf else "The PDF is missing")


async def list_page(store: VersionedObjectStore, *, offset: int, limit: int) -> tuple[list[QueueEntryDetails], int]:
    """Return one page of jobs, and the number of all jobs."""
    page, total = list[QueueEntry](), 0
    async for job in list_jobs(store):
        if offset <= total < offset + limit:
            page.append(job)
        total += 1
    return [await load_details(store, job) for job in page], total


class OldestEntries:
    """The oldest entries up to a limit, as a bounded heap with the newest on top."""

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
        """Return the entries, oldest first."""
        return [job for _, _, job in sorted(self._heap, reverse=True)]


@dataclass(frozen=True)
class _DescendingKey:
    key: JobKey

    def __lt__(self, other: "_DescendingKey") -> bool:
        return self.key > other.key


def _queued_at(entry: QueueEntry) -> datetime:
    """Return when the PDF was written: a sidecar is rewritten with every update."""
    info = entry.pdf or entry.sidecar
    assert info is not None
    return info.modified_at


@dataclass(frozen=True)
class Backlog:
    """The oldest jobs of the queue."""

    depth: int
    """Number of all jobs, including incomplete ones."""
    jobs: Sequence[QueueEntry]
    incomplete: Sequence[QueueEntry]


async def list_backlog(queue: VersionedObjectStore, limit: int) -> Backlog:
    """Return the `limit` oldest jobs, and as many incomplete ones."""
    depth, jobs, incomplete = 0, OldestEntries(limit), OldestEntries(limit)
    async for job in list_jobs(queue):
        depth += 1
        (jobs if job.pdf and job.sidecar else incomplete).add(job)
    return Backlog(depth, jobs.in_order(), incomplete.in_order())


async def count_jobs(store: VersionedObjectStore) -> int:
    count = 0
    async for _ in list_jobs(store):
        count += 1
    return count


class ContentIndex:
    """Jobs of a store by their content. The store is listed once, when the index is first used."""

    def __init__(self, store: VersionedObjectStore) -> None:
        self._store = store
        self._keys: dict[tuple[UUID, str], set[JobKey]] | None = None
        self._lock = asyncio.Lock()

    async def find(self, key: JobKey) -> list[JobKey]:
        """Return the jobs with the content of this one, in the order of their keys."""
        async with self._lock:
            if self._keys is None:
                self._keys = {}
                async for entry in list_jobs(self._store):
                    self.add(entry.key)
        return sorted(self._keys.get(key.content, ()))

    def add(self, key: JobKey) -> None:
        """Add a job that was moved to the store after it was listed."""
        if self._keys is not None:
            self._keys.setdefault(key.content, set()).add(key)
