"""Process one job, from its sidecar to the verified document. Every step can be repeated safely."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from tempfile import TemporaryFile

from muniment.handover.archiver.completion import verify_document
from muniment.handover.archiver.existing_copies import find_tagged_copy, find_untagged_copy
from muniment.handover.archiver.job_state import JobDeferred, JobFailed, JobRejected, VersionedSidecar
from muniment.handover.archiver.paperless_objects import DocumentObjectIds
from muniment.handover.archiver.pass_context import PassContext
from muniment.handover.archiver.retry_policy import MAX_RETRIES
from muniment.handover.archiver.upload import await_task, locate_unacknowledged, upload
from muniment.handover.job_key import JobKey
from muniment.handover.paperless.models import PaperlessDocument, PdfContent
from muniment.handover.sidecar import InvalidSidecar
from muniment.storage.objects.async_io import run_in_thread
from muniment.storage.objects.port import ObjectNotFound, VersionedObjectStore

_IN_MEMORY_BYTES = 4 * 1024 * 1024


@asynccontextmanager
async def open_verified_pdf(queue: VersionedObjectStore, key: JobKey) -> AsyncIterator[PdfContent]:
    """For the length of the block; `JobRejected` if it has not the hash of its key."""
    start, digest = bytearray(), hashlib.sha256()
    with TemporaryFile() as file:
        size = 0
        async for piece in queue.read(key.pdf):
            digest.update(piece)
            size += len(piece)
            if size <= _IN_MEMORY_BYTES:
                start += piece
            else:
                await run_in_thread(file.write, bytes(start) + piece)
                start.clear()
        if digest.hexdigest() != key.sha256:
            raise JobRejected("The PDF does not match the SHA-256 in its key")
        yield bytes(start) if size <= _IN_MEMORY_BYTES else file


async def load_job(context: PassContext, key: JobKey) -> VersionedSidecar:
    """The sidecar of a job that is to be archived; `JobRejected` if it is none, `Left` if somebody takes the job back."""
    try:
        noted = await VersionedSidecar.load(context.stores.queue, key)
    except ObjectNotFound:
        raise JobDeferred("The job no longer exists") from None
    except InvalidSidecar as error:
        raise JobRejected(f"The sidecar cannot be read: {error}") from None
    if noted.sidecar.key != key:
        raise JobRejected("The sidecar belongs to another job")
    if noted.sidecar.cancelled_at is not None:
        raise JobDeferred("The job is being cancelled")
    return noted


async def ensure_in_paperless(context: PassContext, job: VersionedSidecar) -> PaperlessDocument:
    """The document in Paperless, proven."""
    if job.sidecar.retry_count >= MAX_RETRIES:
        raise JobRejected(job.sidecar.last_error or "Sending failed too many times")
    ids = await context.objects.resolve(job.sidecar)
    was_begun = job.sidecar.attempt_id is not None
    document = await find_tagged_copy(context, job.key, ids)
    if document is None and was_begun:
        document = await _resume(context, job, ids)
    if document is None:
        document = await _upload_or_adopt(context, job, ids)
    proven = await verify_document(context, job, document, ids)
    # An upload that was given up may have arrived behind the one that was proven.
    return await find_tagged_copy(context, job.key, ids) or proven if was_begun else proven


async def _resume(context: PassContext, job: VersionedSidecar, ids: DocumentObjectIds) -> PaperlessDocument | None:
    """What became of an upload that was begun; nothing if there has to be another."""
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
    if found := await await_task(context, job, ids):
        return found
    raise JobFailed("Paperless accepted the file but has no record of it")
