"""What lies in one of the two stores, job by job."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime

from muniment.archival.keys import PREFIX, JobKey
from muniment.archival.sidecar import InvalidSidecar, Sidecar, parse
from muniment.storage.blobs.port import BlobInfo, BlobNotFound
from muniment.storage.queues.port import QueueStore


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
