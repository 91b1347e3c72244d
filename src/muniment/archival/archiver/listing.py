"""What waits in the queue: all of it counted, the oldest kept, in memory that does not grow with the queue."""

import heapq
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from random import Random

from muniment.archival.dead_letters.jobs import ListedJob, list_jobs
from muniment.archival.keys import JobKey
from muniment.archival.stores import QueueStore

_SAMPLED, _SAMPLES = 2, 2


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


def spread(jobs: Sequence[ListedJob], random: Random) -> list[ListedJob]:
    """The oldest first, but with two of the others, taken at random, near the front.

    A pass in which nothing is accepted ends early, and what was not accepted stays the oldest: without them a few files
    that Paperless chokes on would hold up all others for ever.
    """
    first, rest = list(jobs[:_SAMPLED]), list(jobs[_SAMPLED:])
    samples = random.sample(range(len(rest)), min(_SAMPLES, len(rest)))
    return [*first, *(rest[i] for i in samples), *(job for i, job in enumerate(rest) if i not in samples)]
