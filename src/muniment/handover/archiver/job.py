"""Process one job, from its sidecar to the verified document. Every step can be repeated safely."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from tempfile import TemporaryFile

from muniment.handover.archiver.completion import complete, verify_document
from muniment.handover.archiver.dead_letters import move_to_dead_letters
from muniment.handover.archiver.existing_copies import find_hidden_copy, find_tagged_copy, find_untagged_copy
from muniment.handover.archiver.job_state import (
    JobAction,
    JobDeferred,
    JobFailed,
    JobRejected,
    JobResult,
    VersionedSidecar,
)
from muniment.handover.archiver.paperless_objects import DocumentObjectIds
from muniment.handover.archiver.pass_context import PassContext
from muniment.handover.archiver.retry_policy import MAX_RETRIES, translate_job_errors, with_retries
from muniment.handover.archiver.upload import await_task, locate_unacknowledged, upload
from muniment.handover.job_key import JobKey
from muniment.handover.paperless.models import PaperlessDocument, PdfContent
from muniment.handover.sidecar import InvalidSidecar
from muniment.storage.objects.async_io import run_in_thread
from muniment.storage.objects.port import ObjectNotFound, VersionedObjectStore

_IN_MEMORY_BYTES = 4 * 1024 * 1024


async def process_job(context: PassContext, key: JobKey) -> JobResult:
    """Process one job and return its result. Only errors that concern the whole pass propagate."""
    job, started_at = None, context.clock.now()
    try:
        job = await load_job(context, key)
        document = await with_retries(context, partial(_archive, context, job))
        with translate_job_errors():
            await complete(context, job, document)
    except JobDeferred as error:
        return JobResult(key, JobAction.LEFT, job.sidecar if job else None, started_at, error=error.message)
    except JobFailed as error:
        if not error.is_job_fault:
            context.breaker.record_failure(key)
        sidecar = job.sidecar if job else None
        return JobResult(key, JobAction.FAILED, sidecar, started_at, error=error.message, failure=error)
    except JobRejected as error:
        sidecar = await move_to_dead_letters(context, key, error.message, counts=True)
        return JobResult(key, JobAction.DEAD_LETTER, sidecar, started_at, error=error.message)
    return JobResult(key, JobAction.ARCHIVED, job.sidecar, started_at, document.id)


async def load_job(context: PassContext, key: JobKey) -> VersionedSidecar:
    """Load the sidecar of a job. Raise `JobRejected` if it is invalid, `JobDeferred` if the job is being cancelled."""
    try:
        job = await VersionedSidecar.load(context.stores.queue, key)
    except ObjectNotFound:
        raise JobDeferred("The job no longer exists") from None
    except InvalidSidecar as error:
        raise JobRejected(f"The sidecar cannot be read: {error}") from None
    if job.sidecar.key != key:
        raise JobRejected("The sidecar belongs to another job")
    if job.sidecar.cancelled_at is not None:
        raise JobDeferred("The job is being cancelled")
    return job


async def _archive(context: PassContext, job: VersionedSidecar) -> PaperlessDocument:
    """Ensure that Paperless has the document, and return it as it was read back and verified."""
    if job.sidecar.retry_count >= MAX_RETRIES:
        raise JobRejected(job.sidecar.last_error or "Sending failed too many times")
    ids = await context.objects.resolve(job.sidecar)
    was_started = job.sidecar.attempt_id is not None
    document = await ensure_in_paperless(context, job, ids)
    verified = await verify_document(context, job, document, ids)
    if was_started:
        # An abandoned upload may have arrived since: only one of two copies stays.
        chosen = await find_tagged_copy(context, job.key, ids) or verified
        return verified if chosen.id == verified.id else await verify_document(context, job, chosen, ids)
    return verified


async def ensure_in_paperless(context: PassContext, job: VersionedSidecar, ids: DocumentObjectIds) -> PaperlessDocument:
    """Return the document in Paperless: a copy that exists, the result of an earlier attempt, or a new upload."""
    if not ids.is_content_tag_new and (found := await find_tagged_copy(context, job.key, ids)):
        return found
    if job.sidecar.attempt_id is not None and (found := await _resume(context, job, ids)):
        return found
    if found := await find_hidden_copy(context, job, ids):
        return found
    return await _upload_or_adopt(context, job, ids)


async def _resume(context: PassContext, job: VersionedSidecar, ids: DocumentObjectIds) -> PaperlessDocument | None:
    """Return the document of an earlier attempt, or `None` if Paperless has not received the file."""
    if job.sidecar.task_id is None and (found := await locate_unacknowledged(context, job, ids)):
        return found
    return await await_task(context, job, ids) if job.sidecar.task_id is not None else None


async def _upload_or_adopt(context: PassContext, job: VersionedSidecar, ids: DocumentObjectIds) -> PaperlessDocument:
    async with open_verified_pdf(context.stores.queue, job.key) as pdf:
        if found := await find_untagged_copy(context, job, ids, pdf):
            return found
        if context.breaker.is_open:
            raise JobDeferred("This pass does not accept more uploads")
        await upload(context, job, ids, pdf)
    return await await_task(context, job, ids)


@asynccontextmanager
async def open_verified_pdf(queue: VersionedObjectStore, key: JobKey) -> AsyncIterator[PdfContent]:
    """Open the PDF of a job, in memory or as a temporary file. Raise `JobRejected` if its hash is wrong."""
    buffer, digest = bytearray(), hashlib.sha256()
    with TemporaryFile() as file:
        size = 0
        async for chunk in queue.read(key.pdf):
            digest.update(chunk)
            size += len(chunk)
            if size <= _IN_MEMORY_BYTES:
                buffer += chunk
            else:
                await run_in_thread(file.write, bytes(buffer) + chunk)
                buffer.clear()
        if digest.hexdigest() != key.sha256:
            raise JobRejected("The PDF does not match the SHA-256 in its key")
        yield bytes(buffer) if size <= _IN_MEMORY_BYTES else file
