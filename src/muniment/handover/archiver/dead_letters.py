"""Decide whether a failure counts against the job or against Paperless, and move rejected jobs to the dead letters.

A job is copied, the copy is verified, and only then is it deleted from the queue (docs/contracts.md#archiver-errors, #archiver-outages).
"""

import hashlib
from dataclasses import dataclass, replace
from datetime import timedelta

from muniment.errors import Unavailable
from muniment.handover.archiver.completion import delete_job_objects
from muniment.handover.archiver.job_state import JobFailed, SidecarChanged, VersionedSidecar
from muniment.handover.archiver.monitoring import JobLogEntry
from muniment.handover.archiver.pass_context import PassContext
from muniment.handover.archiver.retry_policy import MAX_RETRIES
from muniment.handover.internal.client import ApiOrganizationNotFound, ApiRequestRejected
from muniment.handover.internal.contract import JobStatusUpdate
from muniment.handover.job_key import JobKey
from muniment.handover.sidecar import InvalidSidecar, Sidecar, parse_sidecar
from muniment.storage.objects.port import JSON_CONTENT_TYPE, ObjectNotFound, VersionedObjectStore


async def move_to_dead_letters(context: PassContext, key: JobKey, reason: str) -> Sidecar | None:
    """Both objects, or the one that there is. Doing it twice changes nothing. The sidecar, if it can be read."""
    queue, letters = context.stores.queue, context.stores.dead_letters
    await context.lease.check()
    await _copy_pdf(queue, letters, key)
    sidecar = await _copy_sidecar(queue, letters, key, reason)
    if sidecar is not None:
        await _report_failed(context, key, sidecar)
    await delete_job_objects(context, key)
    return sidecar


async def _report_failed(context: PassContext, key: JobKey, sidecar: Sidecar) -> None:
    update = JobStatusUpdate.failed(key, retry_count=sidecar.retry_count, error=sidecar.last_error)
    try:
        await context.api.report_status(sidecar.bilko_document_id, update)
    except (ApiOrganizationNotFound, ApiRequestRejected):
        return  # nobody has a row for it


async def _copy_pdf(queue: VersionedObjectStore, letters: VersionedObjectStore, key: JobKey) -> None:
    """As it is, whatever its hash: what is wrong with it may be just that."""
    written = hashlib.sha256()
    try:
        async with letters.writer(key.pdf) as writer:
            async for piece in queue.read(key.pdf):
                written.update(piece)
                await writer.write(piece)
    except ObjectNotFound:
        return
    if await _compute_sha256(letters, key.pdf) != written.hexdigest():
        raise Unavailable("A dead letter was not stored correctly")


async def _copy_sidecar(
    queue: VersionedObjectStore, letters: VersionedObjectStore, key: JobKey, reason: str
) -> Sidecar | None:
    try:
        data = (await queue.get(key.sidecar)).data
    except ObjectNotFound:
        return None
    sidecar = _with_reason(data, reason)
    if sidecar is not None:
        data = sidecar.to_bytes()
    async with letters.writer(key.sidecar, content_type=JSON_CONTENT_TYPE) as writer:
        await writer.write(data)
    if (await letters.get(key.sidecar)).data != data:
        raise Unavailable("A dead letter was not stored correctly")
    return sidecar if sidecar is not None and sidecar.key == key else None


def _with_reason(data: bytes, reason: str) -> Sidecar | None:
    try:
        return replace(parse_sidecar(data), last_error=reason)
    except InvalidSidecar:
        return None


async def _compute_sha256(store: VersionedObjectStore, key: str) -> str:
    digest = hashlib.sha256()
    async for piece in store.read(key):
        digest.update(piece)
    return digest.hexdigest()


SINGLE_JOB_RETRY_INTERVAL = timedelta(days=1)


@dataclass(frozen=True)
class FailedJob:
    key: JobKey
    error: JobFailed


async def record_failure(context: PassContext, failure: FailedJob, *, depth: int) -> JobLogEntry | None:
    """At the end of a pass, when it is known what became of the others. The line if it is a dead letter now."""
    try:
        noted = await VersionedSidecar.load(context.stores.queue, failure.key)
        counts = _is_job_fault(context, failure, noted, depth)
        error = failure.error
        await context.lease.check()
        await noted.record_failure(
            error.message, counts=counts, now=context.clock.now(), discards_attempt=error.discards_attempt
        )
    except (ObjectNotFound, InvalidSidecar, SidecarChanged):
        return None  # somebody else has it; the next pass sees
    if noted.sidecar.retry_count >= MAX_RETRIES:
        sidecar = await move_to_dead_letters(context, failure.key, error.message)
        return JobLogEntry(failure.key, "dead_letter", sidecar, error=error.message)
    await _report_pending(context, noted)
    return None


def _is_job_fault(context: PassContext, failure: FailedJob, job: VersionedSidecar, depth: int) -> bool:
    if failure.error.is_job_fault or context.breaker.has_accepted_others(failure.key):
        return True
    if depth > 1:
        return False
    # Alone there are no others to compare with: then time decides.
    last = job.sidecar.last_attempt_at
    return last is None or context.clock.now() - last >= SINGLE_JOB_RETRY_INTERVAL


async def _report_pending(context: PassContext, job: VersionedSidecar) -> None:
    sidecar = job.sidecar
    update = JobStatusUpdate.pending(job.key, retry_count=sidecar.retry_count, error=sidecar.last_error)
    try:
        await context.api.report_status(sidecar.bilko_document_id, update)
    except (ApiOrganizationNotFound, ApiRequestRejected):
        return  # said again when it is a dead letter, or when it is archived
