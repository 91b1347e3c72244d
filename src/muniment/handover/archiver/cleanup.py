"""End of a pass: resolve incomplete jobs and abandoned uploads.

A sidecar without its PDF may belong to an archived document whose archiver died between its two deletes. An abandoned
upload may still reach Paperless days later and duplicate the verified document.
"""

from datetime import timedelta
from random import Random

from muniment.handover.archiver.completion import archived_update, delete_job_objects, matches_sha256
from muniment.handover.archiver.dead_letters import move_to_dead_letters
from muniment.handover.archiver.existing_copies import trash_own_duplicate
from muniment.handover.archiver.job import load_job
from muniment.handover.archiver.job_state import JobDeferred, JobRejected, VersionedSidecar
from muniment.handover.archiver.monitoring import JobLogEntry
from muniment.handover.archiver.pass_context import PassContext
from muniment.handover.archiver.upload import ABANDONED_PREFIX, AbandonedUpload
from muniment.handover.queue_listing import QueueEntry
from muniment.storage.objects.port import ObjectNotFound, VersionedObjectStore

REPORT_AFTER = timedelta(hours=1)


DEAD_LETTER_AFTER = timedelta(days=7)


async def resolve_incomplete(context: PassContext, entry: QueueEntry) -> JobLogEntry | None:
    """Close it if it is archived, report it after an hour, bury it after a week. Nothing while it may become whole."""
    if entry.pdf is None and (line := await _complete_archived(context, entry)):
        return line
    if not await _is_incomplete(context, entry):
        return None
    age = context.clock.now() - entry.last_modified_at
    missing = "PDF" if entry.pdf is None else "sidecar"
    if age >= DEAD_LETTER_AFTER:
        reason = f"The {missing} has been missing for {age.days} days"
        return JobLogEntry(
            entry.key, "dead_letter", await move_to_dead_letters(context, entry.key, reason), error=reason
        )
    if age >= REPORT_AFTER:
        return JobLogEntry(entry.key, "orphan", error=f"The {missing} is missing")
    return None


async def _is_incomplete(context: PassContext, entry: QueueEntry) -> bool:
    """Still: since it was listed somebody may have ended it, or added the rest."""
    queue, key = context.stores.queue, entry.key
    return await queue.exists(key.pdf) != await queue.exists(key.sidecar)


async def _complete_archived(context: PassContext, entry: QueueEntry) -> JobLogEntry | None:
    try:
        noted = await load_job(context, entry.key)
    except (JobRejected, JobDeferred):
        return None
    document_id = await _find_archived_id(context, noted)
    if document_id is None or await context.stores.queue.exists(entry.key.pdf):
        return None
    await context.api.report_status(noted.sidecar.bilko_document_id, archived_update(context, noted, document_id))
    await delete_job_objects(context, noted.key)
    return JobLogEntry(entry.key, "closed", noted.sidecar, paperless_doc_id=document_id)


async def _find_archived_id(context: PassContext, job: VersionedSidecar) -> int | None:
    """In Paperless, with our tags and these bytes."""
    tags = await context.objects.find_identity_tags(job.key.organization_id, job.key.sha256)
    found = [] if tags is None else await context.paperless.find_tagged(tags)
    for document in found:
        if await matches_sha256(context.paperless, document.id, job.key.sha256):
            return document.id
    return None


RETENTION = timedelta(days=30)


CHECKS_PER_PASS = 50
"""After an upgrade, which drops the history of tasks, there may be thousands of notes: each has its turn."""


async def list_abandoned(queue: VersionedObjectStore, random: Random) -> list[str]:
    """The notes to look at in this pass: any, if there are too many of them."""
    notes = [info.key async for info in queue.list(ABANDONED_PREFIX)]
    return random.sample(notes, CHECKS_PER_PASS) if len(notes) > CHECKS_PER_PASS else notes


async def resolve_abandoned(context: PassContext, object_key: str) -> None:
    """Put away what arrived after all, behind the one that was proven; forget what will not arrive any more."""
    queue = context.stores.queue
    try:
        late = AbandonedUpload.parse((await queue.get(object_key)).data)
    except ObjectNotFound:
        return
    if late is not None and await queue.exists(late.key.sidecar):
        return  # the job itself looks for it
    if late is None or await _is_resolved(context, late):
        await queue.delete(object_key)


async def _is_resolved(context: PassContext, upload: AbandonedUpload) -> bool:
    # In this order: the document becomes visible before its task is done.
    task = await context.paperless.find_task(upload.task_id)
    tags = await context.objects.find_identity_tags(upload.key.organization_id, upload.key.sha256)
    arrived = await context.paperless.find_by_file_name(upload.file_name)
    for document in arrived if tags else ():
        await context.lease.check()
        await trash_own_duplicate(context, upload.key, tags or frozenset(), document.id)
    is_over = context.clock.now() - upload.abandoned_at > RETENTION
    return bool(arrived) or is_over or (task is not None and task.is_done)
