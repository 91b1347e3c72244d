"""Jobs of one content in one organization. They become one document, and are processed one after the other."""

from collections.abc import AsyncIterator, Sequence
from uuid import UUID

from muniment.handover.archiver.job import process_job
from muniment.handover.archiver.job_state import JobAction, JobResult
from muniment.handover.archiver.pass_context import PassContext
from muniment.handover.job_key import JobKey
from muniment.handover.queue import find_sidecar
from muniment.handover.queue_listing import Backlog, QueueEntry, list_jobs
from muniment.storage.objects.port import VersionedObjectStore


async def group_by_content(
    queue: VersionedObjectStore, backlog: Backlog, entries: Sequence[QueueEntry]
) -> list[list[JobKey]]:
    """Return the jobs of the entries in groups of the same content, in their order.

    A group also has the jobs that the backlog left out because of its limit: one of them may have been uploaded.
    """
    groups: dict[tuple[UUID, str], list[JobKey]] = {}
    for entry in entries:
        groups.setdefault(entry.key.content, []).append(entry.key)
    if backlog.depth > len(backlog.jobs) + len(backlog.incomplete):
        async for entry in list_jobs(queue):
            group = groups.get(entry.key.content)
            if group is not None and entry.pdf and entry.sidecar and entry.key not in group:
                group.append(entry.key)
    return list(groups.values())


async def process_group(context: PassContext, keys: Sequence[JobKey]) -> AsyncIterator[JobResult]:
    """Process the jobs of one content, and yield their results.

    While an upload of one of them is open, the others wait: they would create a second document.
    """
    queue = context.stores.queue
    waiting = await _open_upload_first(queue, keys) if len(keys) > 1 else list(keys)
    while waiting and not context.breaker.is_open:
        key = waiting.pop(0)
        yield await process_job(context, key)
        if waiting and await _has_open_upload(queue, key):
            for other in waiting:
                reason = f"The same file is being sent to Paperless as {key.document_type}"
                yield JobResult(other, JobAction.LEFT, error=reason)
            return


async def _open_upload_first(queue: VersionedObjectStore, keys: Sequence[JobKey]) -> list[JobKey]:
    is_open = {key: await _has_open_upload(queue, key) for key in keys}
    return sorted(keys, key=lambda key: not is_open[key])


async def _has_open_upload(queue: VersionedObjectStore, key: JobKey) -> bool:
    sidecar = await find_sidecar(queue, key)
    return sidecar is not None and sidecar.attempt_id is not None
