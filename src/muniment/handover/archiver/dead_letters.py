"""Decide whether a failure counts against the job or against Paperless, and move rejected jobs to the dead letters.

A job is copied, the copy is verified, and only then is it deleted from the queue (specs/archive-queue.md §8.2, §10.3).
"""

import hashlib
from dataclasses import dataclass, replace
from datetime import timedelta

from muniment.errors import Unavailable
from muniment.handover.archiver.completion import remove
from muniment.handover.archiver.job_state import Changed, Failed, Noted
from muniment.handover.archiver.monitoring import JobLine
from muniment.handover.archiver.pass_context import Tools
from muniment.handover.archiver.retry_policy import MAX_RETRIES
from muniment.handover.internal.client import NotDone, Said, UnknownOrganization
from muniment.handover.job_key import JobKey
from muniment.handover.sidecar import InvalidSidecar, Sidecar, parse
from muniment.storage.objects.port import JSON, BlobNotFound, QueueStore


async def bury(tools: Tools, key: JobKey, reason: str) -> Sidecar | None:
    """Both objects, or the one that there is. Doing it twice changes nothing. The sidecar, if it can be read."""
    queue, letters = tools.stores.queue, tools.stores.dead_letters
    await tools.lease.check()
    await _copy_pdf(queue, letters, key)
    sidecar = await _copy_sidecar(queue, letters, key, reason)
    if sidecar is not None:
        await _report_failed(tools, key, sidecar)
    await remove(tools, key)
    return sidecar


async def _report_failed(tools: Tools, key: JobKey, sidecar: Sidecar) -> None:
    said = Said("failed", retry_count=sidecar.retry_count, last_error=sidecar.last_error)
    try:
        await tools.api.say(sidecar.bilko_document_id, key, said)
    except (UnknownOrganization, NotDone):
        return  # nobody has a row for it


async def _copy_pdf(queue: QueueStore, letters: QueueStore, key: JobKey) -> None:
    """As it is, whatever its hash: what is wrong with it may be just that."""
    written = hashlib.sha256()
    try:
        async with letters.writer(key.pdf) as writer:
            async for piece in queue.read(key.pdf):
                written.update(piece)
                await writer.write(piece)
    except BlobNotFound:
        return
    if await _sha256(letters, key.pdf) != written.hexdigest():
        raise Unavailable("A dead letter was not stored correctly")


async def _copy_sidecar(queue: QueueStore, letters: QueueStore, key: JobKey, reason: str) -> Sidecar | None:
    try:
        data = (await queue.get(key.sidecar)).data
    except BlobNotFound:
        return None
    sidecar = _with_reason(data, reason)
    if sidecar is not None:
        data = sidecar.to_bytes()
    async with letters.writer(key.sidecar, content_type=JSON) as writer:
        await writer.write(data)
    if (await letters.get(key.sidecar)).data != data:
        raise Unavailable("A dead letter was not stored correctly")
    return sidecar if sidecar is not None and sidecar.key == key else None


def _with_reason(data: bytes, reason: str) -> Sidecar | None:
    try:
        return replace(parse(data), last_error=reason)
    except InvalidSidecar:
        return None


async def _sha256(store: QueueStore, key: str) -> str:
    digest = hashlib.sha256()
    async for piece in store.read(key):
        digest.update(piece)
    return digest.hexdigest()


ALONE_AGAIN_AFTER = timedelta(days=1)


@dataclass(frozen=True)
class Failure:
    key: JobKey
    error: Failed


async def settle(tools: Tools, failure: Failure, *, depth: int) -> JobLine | None:
    """At the end of a pass, when it is known what became of the others. The line if it is a dead letter now."""
    try:
        noted = await Noted.read(tools.stores.queue, failure.key)
        counts = _counts(tools, failure, noted, depth)
        error = failure.error
        await tools.lease.check()
        await noted.failed(error.message, counts=counts, now=tools.clock.now(), forgets_attempt=error.forgets_attempt)
    except (BlobNotFound, InvalidSidecar, Changed):
        return None  # somebody else has it; the next pass sees
    if noted.sidecar.retry_count >= MAX_RETRIES:
        sidecar = await bury(tools, failure.key, error.message)
        return JobLine(failure.key, "dead_letter", sidecar, error=error.message)
    await _report_pending(tools, noted)
    return None


def _counts(tools: Tools, failure: Failure, noted: Noted, depth: int) -> bool:
    if failure.error.is_certain or tools.pace.has_accepted_others(failure.key):
        return True
    if depth > 1:
        return False
    # Alone there are no others to compare with: then time decides.
    last = noted.sidecar.last_attempt_at
    return last is None or tools.clock.now() - last >= ALONE_AGAIN_AFTER


async def _report_pending(tools: Tools, noted: Noted) -> None:
    sidecar = noted.sidecar
    said = Said("pending", retry_count=sidecar.retry_count, last_error=sidecar.last_error)
    try:
        await tools.api.say(sidecar.bilko_document_id, noted.key, said)
    except (UnknownOrganization, NotDone):
        return  # said again when it is a dead letter, or when it is archived
