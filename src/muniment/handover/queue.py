"""Queue of hand-over jobs: enqueue, cancel, undo a cancellation and delete a job.

The order of the writes is chosen so that a crash between any two of them leaves a state that can be resumed.
`HandoverStores` holds the two stores that the API and the archiver share (docs/contracts.md#handover-stores).
"""

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime

from muniment.errors import Conflict, Unavailable
from muniment.handover.content import ChecksumMismatch, ContentSource
from muniment.handover.job_key import JobKey
from muniment.handover.sidecar import InvalidSidecar, Sidecar, parse_sidecar
from muniment.storage.objects.port import ObjectNotFound, VersionedObjectStore


@dataclass(frozen=True)
class HandoverStores:
    queue: VersionedObjectStore
    dead_letters: VersionedObjectStore

    async def close(self) -> None:
        await self.queue.close()
        await self.dead_letters.close()


_MAX_ATTEMPTS = 5


class JobBeingCancelled(Unavailable):
    """This document is being removed from the Paperless queue. Try again shortly"""


class UploadAlreadyStarted(Conflict):
    """This document is already being sent to Paperless. Wait until that is finished"""


async def enqueue(queue: VersionedObjectStore, sidecar: Sidecar, content: ContentSource) -> None:
    """PDF first, then the sidecar, which makes the job; one that is there stays as the archiver has it.

    `ChecksumMismatch` before anything is visible when the bytes are not those that the sidecar names.
    """
    key = sidecar.key
    await write_pdf(queue, key, content)
    if not await queue.put_if_absent(key.sidecar, sidecar.to_bytes()):
        await _require_not_cancelled(queue, key)
    elif not await queue.exists(key.pdf):
        # Somebody ended an earlier job of this key between our two writes: they delete the PDF before the sidecar.
        await write_pdf(queue, key, content)


async def write_pdf(store: VersionedObjectStore, key: JobKey, content: ContentSource) -> None:
    """It appears only when all of it is there and has the hash of its key."""
    digest = hashlib.sha256()
    async with store.writer(key.pdf) as writer:
        async for piece in content.iter_chunks():
            digest.update(piece)
            await writer.write(piece)
        if digest.hexdigest() != key.sha256:
            raise ChecksumMismatch


async def find_sidecar(store: VersionedObjectStore, key: JobKey) -> Sidecar | None:
    """`None` also for one that cannot be read."""
    try:
        return parse_sidecar((await store.get(key.sidecar)).data)
    except (ObjectNotFound, InvalidSidecar):
        return None


async def _require_not_cancelled(queue: VersionedObjectStore, key: JobKey) -> None:
    found = await find_sidecar(queue, key)
    if found is not None and found.cancelled_at is not None:
        raise JobBeingCancelled


async def cancel_job(queue: VersionedObjectStore, placeholder: Sidecar, now: datetime) -> None:
    """Mark the job so that the archiver leaves it alone and nobody joins it, or `UploadAlreadyStarted`.

    Where there is none yet, `mark` is put in its place: whoever is just putting it into the queue finds that.
    """
    key = placeholder.key
    for _ in range(_MAX_ATTEMPTS):
        try:
            held = await queue.get(key.sidecar)
        except ObjectNotFound:
            if await queue.put_if_absent(key.sidecar, replace(placeholder, cancelled_at=now).to_bytes()):
                return
            continue
        found = _parse_or_default(held.data, placeholder)
        if found.cancelled_at is not None:
            return
        if found.attempt_id is not None:
            raise UploadAlreadyStarted
        marked = replace(found, cancelled_at=now).to_bytes()
        if await queue.put_if_match(key.sidecar, marked, version=held.version):
            return
    raise JobBeingCancelled


async def undo_cancel(queue: VersionedObjectStore, key: JobKey) -> None:
    """Take the mark away again: whoever cancelled the job did not carry it through."""
    held = await queue.get(key.sidecar)
    found = parse_sidecar(held.data)
    if found.cancelled_at is not None:
        await queue.put_if_match(key.sidecar, replace(found, cancelled_at=None).to_bytes(), version=held.version)


async def delete_job(store: VersionedObjectStore, key: JobKey) -> bool:
    """PDF first, then the sidecar; whether both were seen to be gone."""
    for name in (key.pdf, key.sidecar):
        await store.delete(name)
    return not (await store.exists(key.pdf) or await store.exists(key.sidecar))


def _parse_or_default(data: bytes, default: Sidecar) -> Sidecar:
    try:
        return parse_sidecar(data)
    except InvalidSidecar:
        return default  # the archiver makes nothing of it either
