"""Queue of hand-over jobs: enqueue, cancel, undo a cancellation and delete a job.

The order of the writes is chosen so that a crash between any two of them leaves a state that can be resumed.
`HandoverStores` holds the two stores that the API and the archiver share (specs/archive-queue.md §2).
"""

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime

from muniment.errors import Conflict, Unavailable
from muniment.handover.content import Content, HashDiffers
from muniment.handover.job_key import JobKey
from muniment.handover.sidecar import InvalidSidecar, Sidecar, parse
from muniment.storage.objects.port import BlobNotFound, QueueStore


@dataclass(frozen=True)
class ArchiveStores:
    queue: QueueStore
    dead_letters: QueueStore

    async def close(self) -> None:
        await self.queue.close()
        await self.dead_letters.close()


_TRIES = 5


class BeingTakenBack(Unavailable):
    """This document is being removed from the Paperless queue. Try again shortly"""


class ArchiverHasBegun(Conflict):
    """This document is already being sent to Paperless. Wait until that is finished"""


async def put_job(queue: QueueStore, sidecar: Sidecar, content: Content) -> None:
    """PDF first, then the sidecar, which makes the job; one that is there stays as the archiver has it.

    `HashDiffers` before anything is visible when the bytes are not those that the sidecar names.
    """
    key = sidecar.key
    await put_pdf(queue, key, content)
    if not await queue.put_new(key.sidecar, sidecar.to_bytes()):
        await _require_staying(queue, key)
    elif not await queue.exists(key.pdf):
        # Somebody ended an earlier job of this key between our two writes: they delete the PDF before the sidecar.
        await put_pdf(queue, key, content)


async def put_pdf(store: QueueStore, key: JobKey, content: Content) -> None:
    """It appears only when all of it is there and has the hash of its key."""
    digest = hashlib.sha256()
    async with store.writer(key.pdf) as writer:
        async for piece in content.pieces():
            digest.update(piece)
            await writer.write(piece)
        if digest.hexdigest() != key.sha256:
            raise HashDiffers


async def find_sidecar(store: QueueStore, key: JobKey) -> Sidecar | None:
    """`None` also for one that cannot be read."""
    try:
        return parse((await store.get(key.sidecar)).data)
    except (BlobNotFound, InvalidSidecar):
        return None


async def _require_staying(queue: QueueStore, key: JobKey) -> None:
    found = await find_sidecar(queue, key)
    if found is not None and found.cancelled_at is not None:
        raise BeingTakenBack


async def cancel_job(queue: QueueStore, mark: Sidecar, now: datetime) -> None:
    """Mark the job so that the archiver leaves it alone and nobody joins it, or `ArchiverHasBegun`.

    Where there is none yet, `mark` is put in its place: whoever is just putting it into the queue finds that.
    """
    key = mark.key
    for _ in range(_TRIES):
        try:
            held = await queue.get(key.sidecar)
        except BlobNotFound:
            if await queue.put_new(key.sidecar, replace(mark, cancelled_at=now).to_bytes()):
                return
            continue
        found = _read(held.data, mark)
        if found.cancelled_at is not None:
            return
        if found.attempt_id is not None:
            raise ArchiverHasBegun
        marked = replace(found, cancelled_at=now).to_bytes()
        if await queue.put_if(key.sidecar, marked, version=held.version):
            return
    raise BeingTakenBack


async def resume_job(queue: QueueStore, key: JobKey) -> None:
    """Take the mark away again: whoever cancelled the job did not carry it through."""
    held = await queue.get(key.sidecar)
    found = parse(held.data)
    if found.cancelled_at is not None:
        await queue.put_if(key.sidecar, replace(found, cancelled_at=None).to_bytes(), version=held.version)


async def delete_job(store: QueueStore, key: JobKey) -> bool:
    """PDF first, then the sidecar; whether both were seen to be gone."""
    for name in (key.pdf, key.sidecar):
        await store.delete(name)
    return not (await store.exists(key.pdf) or await store.exists(key.sidecar))


def _read(data: bytes, otherwise: Sidecar) -> Sidecar:
    try:
        return parse(data)
    except InvalidSidecar:
        return otherwise  # the archiver makes nothing of it either
