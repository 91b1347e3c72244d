"""End of a pass: resolve incomplete jobs and abandoned uploads.

A sidecar without its PDF may belong to an archived document whose archiver died between its two deletes. An abandoned
upload may still reach Paperless days later and duplicate the verified document.
"""

from datetime import timedelta
from functools import partial
from random import Random

from muniment.handover.archiver.completion import (
    archived_update,
    delete_job_objects,
    ensure_tags,
    matches_sha256,
    verify_document,
)
from muniment.handover.archiver.dead_letters import move_to_dead_letters
from muniment.handover.archiver.existing_copies import trash_own_duplicate
from muniment.handover.archiver.job import load_job
from muniment.handover.archiver.job_state import JobAction, JobEnded, JobResult, VersionedSidecar
from muniment.handover.archiver.pass_context import PassContext
from muniment.handover.archiver.retry_policy import with_retries
from muniment.handover.archiver.upload import ABANDONED_PREFIX, AbandonedUpload
from muniment.handover.job_key import JobKey
from muniment.handover.paperless.models import PaperlessDocument
from muniment.handover.queue import delete_job
from muniment.handover.queue_listing import QueueEntry
from muniment.handover.sidecar import InvalidSidecar
from muniment.storage.objects.port import ObjectNotFound, VersionedObjectStore

REPORT_AFTER = timedelta(hours=1)
DEAD_LETTER_AFTER = timedelta(days=7)
RETENTION = timedelta(days=30)
"""Time after which an abandoned upload is no longer expected to arrive."""
CHECKS_PER_PASS = 50
"""Limit of abandoned uploads checked in one pass. An upgrade of Paperless deletes its task history and may leave
thousands."""


async def resolve_incomplete(context: PassContext, entry: QueueEntry) -> JobResult | None:
    """Close an incomplete job if it is archived, report it after an hour, move it to the dead letters after a week."""
    try:
        return await with_retries(context, partial(_resolve_incomplete, context, entry))
    except JobEnded:
        return None  # the next pass checks again


async def _resolve_incomplete(context: PassContext, entry: QueueEntry) -> JobResult | None:
    if entry.pdf is None and (closed := await _close_archived(context, entry)):
        return closed
    if not await _is_incomplete(context, entry):
        return None
    age = context.clock.now() - entry.last_modified_at
    missing = "PDF" if entry.pdf is None else "sidecar"
    if age >= DEAD_LETTER_AFTER:
        reason = f"The {missing} has been missing for {age.days} days"
        sidecar = await move_to_dead_letters(context, entry.key, reason)
        return JobResult(entry.key, JobAction.DEAD_LETTER, sidecar, error=reason)
    if age >= REPORT_AFTER:
        return JobResult(entry.key, JobAction.ORPHAN, error=f"The {missing} is missing")
    return None


async def _is_incomplete(context: PassContext, entry: QueueEntry) -> bool:
    """Return whether one object is still missing. The job may have been completed or deleted since it was listed."""
    queue, key = context.stores.queue, entry.key
    return await queue.exists(key.pdf) != await queue.exists(key.sidecar)


async def _close_archived(context: PassContext, entry: QueueEntry) -> JobResult | None:
    try:
        job = await load_job(context, entry.key)
    except JobEnded:
        return None
    document = await _find_archived(context, job)
    if document is None or await context.stores.queue.exists(entry.key.pdf):
        return None
    ids = await context.objects.resolve(job.sidecar)
    await ensure_tags(context, document, ids)
    await context.api.report_status(job.sidecar.bilko_document_id, archived_update(context, job, document.id))
    await delete_job_objects(context, job.key)
    return JobResult(entry.key, JobAction.CLOSED, job.sidecar, document_id=document.id)


async def _find_archived(context: PassContext, job: VersionedSidecar) -> PaperlessDocument | None:
    """Return the document in Paperless that has our tags and this content."""
    tags = await context.objects.find_identity_tags(job.key.organization_id, job.key.sha256)
    found = [] if tags is None else await context.paperless.find_tagged(tags)
    for document in found:
        if await matches_sha256(context.paperless, document.id, job.key.sha256):
            return document
    return None


async def list_abandoned(queue: VersionedObjectStore, random: Random) -> list[str]:
    """Return the keys of the abandoned uploads to check in this pass, chosen at random if there are too many."""
    keys = [info.key async for info in queue.list(ABANDONED_PREFIX)]
    return random.sample(keys, CHECKS_PER_PASS) if len(keys) > CHECKS_PER_PASS else keys


async def resolve_abandoned(context: PassContext, object_key: str) -> JobResult | None:
    """Resolve an abandoned upload that arrived after all, and forget one that will not arrive any more.

    A duplicate is moved to the trash. If the job has become a dead letter in the meantime, it is completed.
    """
    try:
        return await with_retries(context, partial(_resolve_abandoned, context, object_key))
    except JobEnded:
        return None  # the next pass checks again


async def _resolve_abandoned(context: PassContext, object_key: str) -> JobResult | None:
    queue = context.stores.queue
    try:
        upload = AbandonedUpload.parse(await queue.get(object_key))
    except ObjectNotFound:
        return None
    if upload is not None and await queue.exists(upload.key.sidecar):
        return None  # the job searches for it
    is_resolved = upload is None or await _is_resolved(context, upload)
    completed = await _complete_dead_letter(context, upload.key) if upload is not None and is_resolved else None
    if is_resolved:
        await queue.delete(object_key)
    return completed


async def _complete_dead_letter(context: PassContext, key: JobKey) -> JobResult | None:
    """Complete a dead letter whose file Paperless has imported after all."""
    dead_letters = context.stores.dead_letters
    try:
        job = await VersionedSidecar.load(dead_letters, key)
    except (ObjectNotFound, InvalidSidecar):
        return None
    document = await _find_archived(context, job) if job.sidecar.key == key else None
    if document is None:
        return None
    await verify_document(context, job, document, await context.objects.resolve(job.sidecar))
    await context.api.report_status(job.sidecar.bilko_document_id, archived_update(context, job, document.id))
    await context.lease.check()
    await delete_job(dead_letters, key)
    return JobResult(key, JobAction.CLOSED, job.sidecar, document_id=document.id)


async def _is_resolved(context: PassContext, upload: AbandonedUpload) -> bool:
    # The order matters: the document becomes visible before its task is done.
    task = await context.paperless.find_task(upload.task_id)
    tags = await context.objects.find_identity_tags(upload.key.organization_id, upload.key.sha256)
    arrived = await context.paperless.find_by_file_name(upload.file_name)
    for document in arrived if tags else ():
        await context.lease.check()
        await trash_own_duplicate(context, upload.key, tags or frozenset(), document.id)
    has_expired = context.clock.now() - upload.abandoned_at > RETENTION
    return bool(arrived) or has_expired or (task is not None and task.is_done)
