"""List the jobs of a store in constant memory: all jobs, one page with details, or the oldest N."""

import heapq
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from muniment.handover.job_key import PREFIX, JobKey
from muniment.handover.sidecar import InvalidSidecar, Sidecar, parse
from muniment.storage.objects.port import BlobInfo, BlobNotFound, QueueStore


@dataclass(frozen=True)
class ListedJob:
    """A PDF and its sidecar, or one of them alone."""

    key: JobKey
    pdf: BlobInfo | None
    sidecar: BlobInfo | None

    @property
    def since(self) -> datetime:
        """When the last of it was written."""
        return max(info.modified_at for info in (self.pdf, self.sidecar) if info is not None)


async def list_jobs(store: QueueStore, prefix: str = PREFIX) -> AsyncIterator[ListedJob]:
    """In the order of their keys, in constant memory: PDF and sidecar of a job are neighbours."""
    key: JobKey | None = None
    found: dict[str, BlobInfo] = {}
    async for info in store.list(prefix):
        of = JobKey.parse(info.key)
        if of is None:
            continue
        if key is not None and of != key:
            yield _listed(key, found)
            found = {}
        key, found[info.key] = of, info
    if key is not None:
        yield _listed(key, found)


def _listed(key: JobKey, found: dict[str, BlobInfo]) -> ListedJob:
    return ListedJob(key, found.get(key.pdf), found.get(key.sidecar))


@dataclass(frozen=True)
class DescribedJob:
    """A job with what its sidecar says, or why it cannot be read."""

    job: ListedJob
    sidecar: Sidecar | None
    problem: str | None


async def describe(store: QueueStore, job: ListedJob) -> DescribedJob:
    if job.sidecar is None:
        return DescribedJob(job, None, "The sidecar is missing")
    try:
        sidecar = parse((await store.get(job.key.sidecar)).data)
    except BlobNotFound:
        return DescribedJob(job, None, "The sidecar is missing")
    except InvalidSidecar as error:
        return DescribedJob(job, None, f"The sidecar cannot be read: {error}")
    return DescribedJob(job, sidecar, None if job.pdf else "The PDF is missing")


async def list_page(store: QueueStore, *, offset: int, limit: int) -> tuple[list[DescribedJob], int]:
    """One page, and how many jobs there are."""
    wanted, total = list[ListedJob](), 0
    async for job in list_jobs(store):
        if offset <= total < offset + limit:
            wanted.append(job)
        total += 1
    return [await describe(store, job) for job in wanted], total


class Oldest:
    """A bounded heap: the newest of what it holds is on top, and gives way."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._heap: list[tuple[float, _Descending, ListedJob]] = []

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, job: ListedJob) -> None:
        entry = (-_age(job).timestamp(), _Descending(job.key), job)
        if len(self._heap) < self._limit:
            heapq.heappush(self._heap, entry)
        else:
            heapq.heappushpop(self._heap, entry)

    def sorted(self) -> list[ListedJob]:
        """The oldest first."""
        return [job for _, _, job in sorted(self._heap, reverse=True)]


@dataclass(frozen=True)
class _Descending:
    key: JobKey

    def __lt__(self, other: "_Descending") -> bool:
        return self.key > other.key


def _age(job: ListedJob) -> datetime:
    """Of the PDF: a sidecar is written again with every note."""
    first = job.pdf or job.sidecar
    assert first is not None
    return first.modified_at


@dataclass
class Listing:
    depth: int = 0
    """How many jobs there are; halves of jobs are counted, too."""
    jobs: Sequence[ListedJob] = ()
    halves: Sequence[ListedJob] = field(default=())


async def list_queue(queue: QueueStore, limit: int) -> Listing:
    """The `limit` oldest jobs, and as many halves of jobs."""
    depth, jobs, halves = 0, Oldest(limit), Oldest(limit)
    async for job in list_jobs(queue):
        depth += 1
        (jobs if job.pdf and job.sidecar else halves).add(job)
    return Listing(depth, jobs.sorted(), halves.sorted())


async def count_jobs(store: QueueStore) -> int:
    return await _count(list_jobs(store))


async def _count(jobs: AsyncIterator[ListedJob]) -> int:
    counted = 0
    async for _ in jobs:
        counted += 1
    return counted
