from fastapi import APIRouter

from muniment.accounts.people import require_operator
from muniment.archival.asker import Asker
from muniment.archival.dead_letters.jobs import list_page
from muniment.archival.dead_letters.letters import DeadLetterNotFound
from muniment.archival.dead_letters.schemas import ArchiveJobRead, RequeuedRead
from muniment.archival.keys import JobKey
from muniment.http.dependencies import CurrentParts, CurrentPrincipal
from muniment.http.pagination import Page, Paging
from muniment.storage.queues.port import QueueStore

operator_router = APIRouter(prefix="/archive", tags=["archive"])


@operator_router.get("/queue")
async def list_queue(parts: CurrentParts, principal: CurrentPrincipal, paging: Paging) -> Page[ArchiveJobRead]:
    """What waits for the archiver, of all organizations, for operators."""
    require_operator(principal)
    return await _page(parts.archive.letters.stores.queue, paging)


@operator_router.get("/dead-letters")
async def list_dead_letters(parts: CurrentParts, principal: CurrentPrincipal, paging: Paging) -> Page[ArchiveJobRead]:
    """What could not be archived, for operators: requeue it when its cause is gone, or discard it."""
    require_operator(principal)
    return await _page(parts.archive.letters.stores.dead_letters, paging)


async def _page(store: QueueStore, paging: Paging) -> Page[ArchiveJobRead]:
    found, total = await list_page(store, offset=paging.offset, limit=paging.limit)
    items = [ArchiveJobRead.of(job) for job in found]
    return Page(items=items, total=total, page=paging.page, limit=paging.limit)


@operator_router.post("/dead-letters/{key:path}/requeue")
async def requeue_dead_letter(key: str, parts: CurrentParts, principal: CurrentPrincipal) -> RequeuedRead:
    """Put it back into the queue, with its count reset."""
    require_operator(principal)
    job = parse_key(key)
    await parts.archive.letters.requeue(job, Asker.of(principal))
    return RequeuedRead(job_id=job.pdf)


@operator_router.delete("/dead-letters/{key:path}", status_code=204)
async def discard_dead_letter(key: str, parts: CurrentParts, principal: CurrentPrincipal) -> None:
    """Delete it for good. If Muniment holds its original, that stays."""
    require_operator(principal)
    await parts.archive.letters.discard(parse_key(key), Asker.of(principal))


def parse_key(key: str) -> JobKey:
    job = JobKey.parse(key)
    if job is None:
        raise DeadLetterNotFound
    return job
