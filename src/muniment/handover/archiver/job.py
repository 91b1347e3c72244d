"""Process one job, from its sidecar to the verified document. Every step can be repeated safely."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from tempfile import TemporaryFile

from muniment.handover.archiver.completion import prove
from muniment.handover.archiver.existing_copies import find_elsewhere, find_own
from muniment.handover.archiver.job_state import Dead, Failed, Left, Noted
from muniment.handover.archiver.paperless_objects import Ids
from muniment.handover.archiver.pass_context import Tools
from muniment.handover.archiver.retry_policy import MAX_RETRIES
from muniment.handover.archiver.upload import find_lost, follow, upload
from muniment.handover.job_key import JobKey
from muniment.handover.paperless.models import PaperlessDocument, Pdf
from muniment.handover.sidecar import InvalidSidecar
from muniment.storage.objects.async_io import in_thread
from muniment.storage.objects.port import BlobNotFound, QueueStore

_IN_MEMORY_BYTES = 4 * 1024 * 1024


@asynccontextmanager
async def opened_pdf(queue: QueueStore, key: JobKey) -> AsyncIterator[Pdf]:
    """For the length of the block; `Dead` if it has not the hash of its key."""
    start, digest = bytearray(), hashlib.sha256()
    with TemporaryFile() as file:
        size = 0
        async for piece in queue.read(key.pdf):
            digest.update(piece)
            size += len(piece)
            if size <= _IN_MEMORY_BYTES:
                start += piece
            else:
                await in_thread(file.write, bytes(start) + piece)
                start.clear()
        if digest.hexdigest() != key.sha256:
            raise Dead("The PDF does not match the SHA-256 in its key")
        yield bytes(start) if size <= _IN_MEMORY_BYTES else file


async def take(tools: Tools, key: JobKey) -> Noted:
    """The sidecar of a job that is to be archived; `Dead` if it is none, `Left` if somebody takes the job back."""
    try:
        noted = await Noted.read(tools.stores.queue, key)
    except BlobNotFound:
        raise Left("The job no longer exists") from None
    except InvalidSidecar as error:
        raise Dead(f"The sidecar cannot be read: {error}") from None
    if noted.sidecar.key != key:
        raise Dead("The sidecar belongs to another job")
    if noted.sidecar.cancelled_at is not None:
        raise Left("The job is being cancelled")
    return noted


async def bring_in(tools: Tools, noted: Noted) -> PaperlessDocument:
    """The document in Paperless, proven."""
    if noted.sidecar.retry_count >= MAX_RETRIES:
        raise Dead(noted.sidecar.last_error or "Sending failed too many times")
    ids = await tools.objects.ids_of(noted.sidecar)
    was_begun = noted.sidecar.attempt_id is not None
    document = await find_own(tools, noted.key, ids)
    if document is None and was_begun:
        document = await _continue(tools, noted, ids)
    if document is None:
        document = await _begin(tools, noted, ids)
    proven = await prove(tools, noted, document, ids)
    # An upload that was given up may have arrived behind the one that was proven.
    return await find_own(tools, noted.key, ids) or proven if was_begun else proven


async def _continue(tools: Tools, noted: Noted, ids: Ids) -> PaperlessDocument | None:
    """What became of an upload that was begun; nothing if there has to be another."""
    if noted.sidecar.task_id is None and (found := await find_lost(tools, noted, ids)):
        return found
    return await follow(tools, noted, ids) if noted.sidecar.task_id is not None else None


async def _begin(tools: Tools, noted: Noted, ids: Ids) -> PaperlessDocument:
    async with opened_pdf(tools.stores.queue, noted.key) as pdf:
        if found := await find_elsewhere(tools, noted, ids, pdf):
            return found
        if tools.pace.is_closed:
            raise Left("This pass does not accept more uploads")
        await upload(tools, noted, ids, pdf)
    if found := await follow(tools, noted, ids):
        return found
    raise Failed("Paperless accepted the file but has no record of it")
