"""Decide whether a failure counts against the job or against Paperless, and move rejected jobs to the dead letters.

A job is copied, the copy is verified, and only then is it deleted from the queue (docs/contracts.md#archiver-errors,
docs/contracts.md#archiver-outages).
"""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

from muniment.errors import Unavailable
from muniment.handover.archiver.completion import delete_job_objects
from muniment.handover.archiver.job_state import JobAction, JobFailed, JobResult, SidecarChanged, VersionedSidecar
from muniment.handover.archiver.pass_context import PassContext
from muniment.handover.archiver.retry_policy import MAX_RETRIES
from muniment.handover.internal.client import ApiOrganizationNotFound, ApiRequestRejected
from muniment.handover.internal.contract import JobStatusUpdate
from muniment.handover.job_key import JobKey
from muniment.handover.sidecar import InvalidSidecar, Sidecar, parse_sidecar
from muniment.storage.objects.port import JSON_CONTENT_TYPE, PDF_CONTENT_TYPE, ObjectNotFound, VersionedObjectStore


async def move_to_dead_letters(
    context: PassContext, key: JobKey, reason: str, *, counts: bool = False
) -> Sidecar | None:
    """Move both objects, or the one that exists, and return the sidecar if it can be read. Idempotent.

    With `counts` the pass is an attempt of the job, unless it has none left and was not tried.
    """
    queue, dead_letters = context.stores.queue, context.stores.dead_letters
    await context.lease.check()
    await _copy_pdf(queue, dead_letters, key)
    sidecar = await _copy_sidecar(queue, dead_letters, key, lambda read: _with_reason(read, reason, counts=counts))
    await _report_failed(context, key, sidecar, reason)
    context.dead_letters.add(key)
    await delete_job_objects(context, key)
    return sidecar


async def _report_failed(context: PassContext, key: JobKey, sidecar: Sidecar | None, reason: str) -> None:
    update = JobStatusUpdate.failed(key, retry_count=sidecar.retry_count if sidecar else 0, error=reason)
    try:
        if sidecar is None:  # its document is unknown, but the records of the key are not
            await context.api.report_key_status(update)
        else:
            await context.api.report_status(sidecar.bilko_document_id, update)
    except (ApiOrganizationNotFound, ApiRequestRejected):
        return  # Muniment has no record of it


async def _copy_pdf(queue: VersionedObjectStore, dead_letters: VersionedObjectStore, key: JobKey) -> None:
    """Copy the PDF whatever its hash is: a wrong hash may be the reason for the move."""
    written = hashlib.sha256()
    try:
        async with dead_letters.writer(key.pdf, content_type=PDF_CONTENT_TYPE) as writer:
            async for chunk in queue.read(key.pdf):
                written.update(chunk)
                await writer.write(chunk)
    except ObjectNotFound:
        return
    if await _compute_sha256(dead_letters, key.pdf) != written.hexdigest():
        raise Unavailable("A dead letter was not stored correctly")


async def _copy_sidecar(
    queue: VersionedObjectStore, dead_letters: VersionedObjectStore, key: JobKey, change: Callable[[Sidecar], Sidecar]
) -> Sidecar | None:
    try:
        data = await queue.get(key.sidecar)
    except ObjectNotFound:
        return None
    sidecar = None
    with suppress(InvalidSidecar):  # copied as it is
        sidecar = change(parse_sidecar(data))
        data = sidecar.to_bytes()
    async with dead_letters.writer(key.sidecar, content_type=JSON_CONTENT_TYPE) as writer:
        await writer.write(data)
    if await dead_letters.get(key.sidecar) != data:
        raise Unavailable("A dead letter was not stored correctly")
    return sidecar if sidecar is not None and sidecar.key == key else None


def _with_reason(sidecar: Sidecar, reason: str, *, counts: bool) -> Sidecar:
    is_attempt = counts and sidecar.retry_count < MAX_RETRIES
    return replace(sidecar, last_error=reason, retry_count=sidecar.retry_count + is_attempt)


async def _compute_sha256(store: VersionedObjectStore, key: str) -> str:
    digest = hashlib.sha256()
    async for chunk in store.read(key):
        digest.update(chunk)
    return digest.hexdigest()


SINGLE_JOB_RETRY_INTERVAL = timedelta(days=1)
"""Interval at which failures of a job count that is alone in the queue."""


async def record_failure(context: PassContext, failed: JobResult, *, depth: int) -> JobResult | None:
    """Record a failure at the end of a pass, when the results of the other jobs are known.

    Return the result of the job if it has become a dead letter.
    """
    error, key = failed.failure, failed.key
    assert error is not None
    try:
        job = await VersionedSidecar.load(context.stores.queue, key)
        counts = _is_job_fault(context, error, job, depth)
        await context.lease.check()
        await job.record_failure(
            error.message, counts=counts, now=context.clock.now(), discards_attempt=error.discards_attempt
        )
    except (ObjectNotFound, InvalidSidecar, SidecarChanged):
        return None  # someone else changed the job; the next pass continues
    if job.sidecar.retry_count >= MAX_RETRIES:
        sidecar = await move_to_dead_letters(context, key, error.message)
        return JobResult(key, JobAction.DEAD_LETTER, sidecar, error=error.message)
    await _report_pending(context, job)
    return None


def _is_job_fault(context: PassContext, error: JobFailed, job: VersionedSidecar, depth: int) -> bool:
    """Return whether the failure counts against the job, and not against Paperless."""
    if error.is_upload_open:
        return False
    if error.is_job_fault or context.breaker.has_accepted_others(job.key):
        return True
    if depth > 1:
        return False
    # With a single job there are no others to compare with, so that time decides.
    last_attempt_at = job.sidecar.last_attempt_at
    return last_attempt_at is None or context.clock.now() - last_attempt_at >= SINGLE_JOB_RETRY_INTERVAL


async def _report_pending(context: PassContext, job: VersionedSidecar) -> None:
    sidecar = job.sidecar
    update = JobStatusUpdate.pending(job.key, retry_count=sidecar.retry_count, error=sidecar.last_error)
    try:
        await context.api.report_status(sidecar.bilko_document_id, update)
    except (ApiOrganizationNotFound, ApiRequestRejected):
        return  # reported again when the job is archived or becomes a dead letter
