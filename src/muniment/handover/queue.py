"""Queue of hand-over jobs: enqueue, cancel, undo a cancellation and delete a job.

The order of the writes is chosen so that a crash between any two of them leaves a state that can be resumed.
`HandoverStores` holds the two stores that the API and the archiver share (docs/contracts.md#handover-stores).
"""

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from muniment.errors import Conflict, Unavailable
from muniment.handover.content import ChecksumMismatch, ContentSource
from muniment.handover.job_key import JobKey
from muniment.handover.sidecar import InvalidSidecar, Sidecar, parse_sidecar
from muniment.storage.objects.port import JSON_CONTENT_TYPE, PDF_CONTENT_TYPE, ObjectNotFound, VersionedObjectStore

_MAX_ATTEMPTS = 5


@dataclass(frozen=True)
class HandoverStores:
    """Stores of the queue and of the dead letters."""

    queue: VersionedObjectStore
    dead_letters: VersionedObjectStore

    async def close(self) -> None:
        await self.queue.close()
        await self.dead_letters.close()


class JobBeingCancelled(Unavailable):
    """This document is being removed from the Paperless queue. Try again shortly"""


class UploadAlreadyStarted(Conflict):
    """This document is already being sent to Paperless. Wait until that is finished"""


async def enqueue(queue: VersionedObjectStore, sidecar: Sidecar, content: ContentSource) -> None:
    """Write the PDF, then the sidecar, which completes the job. An existing sidecar is left as the archiver has it.

    Raise `ChecksumMismatch`, before anything is visible, if the content does not match the sidecar.
    """
    key = sidecar.key
    await write_pdf(queue, key, content)
    if not await queue.put_if_absent(key.sidecar, sidecar.to_bytes(), content_type=JSON_CONTENT_TYPE):
        await _require_not_cancelled(queue, key)
    elif not await queue.exists(key.pdf):
        # An earlier job of this key was deleted between our two writes, the PDF before the sidecar.
        await write_pdf(queue, key, content)


async def write_pdf(store: VersionedObjectStore, key: JobKey, content: ContentSource) -> None:
    """Write the PDF. It becomes visible only when it is complete and has the hash of its key."""
    digest = hashlib.sha256()
    async with store.writer(key.pdf, content_type=PDF_CONTENT_TYPE) as writer:
        async for chunk in content.iter_chunks():
            digest.update(chunk)
            await writer.write(chunk)
        if digest.hexdigest() != key.sha256:
            raise ChecksumMismatch


async def find_sidecar(store: VersionedObjectStore, key: JobKey) -> Sidecar | None:
    """Return the sidecar, or `None` if it is missing or cannot be read."""
    try:
        return parse_sidecar(await store.get(key.sidecar))
    except (ObjectNotFound, InvalidSidecar):
        return None


async def _require_not_cancelled(queue: VersionedObjectStore, key: JobKey) -> None:
    found = await find_sidecar(queue, key)
    if found is not None and found.cancelled_at is not None:
        raise JobBeingCancelled


async def cancel_job(queue: VersionedObjectStore, placeholder: Sidecar, now: datetime) -> None:
    """Mark the job as cancelled, so that the archiver skips it and no document joins it.

    Raise `UploadAlreadyStarted` if the archiver has started its upload. If there is no sidecar yet, write
    `placeholder`: a concurrent enqueue of the job finds it.
    """
    key = placeholder.key
    for _ in range(_MAX_ATTEMPTS):
        try:
            stored = await queue.get_versioned(key.sidecar)
        except ObjectNotFound:
            cancelled = replace(placeholder, cancelled_at=now).to_bytes()
            if await queue.put_if_absent(key.sidecar, cancelled, content_type=JSON_CONTENT_TYPE):
                return
            continue
        sidecar = _parse_or_default(stored.data, placeholder)
        if sidecar.cancelled_at is not None:
            return
        if sidecar.attempt_id is not None:
            raise UploadAlreadyStarted
        cancelled = replace(sidecar, cancelled_at=now).to_bytes()
        if await queue.put_if_match(key.sidecar, cancelled, version=stored.version):
            return
    raise JobBeingCancelled


async def remove_document_name(store: VersionedObjectStore, key: JobKey, document_id: UUID) -> None:
    """Remove the name of a purged document from a job that stays for another one.

    A job whose upload has started is left alone: Paperless has the name by then.
    """
    for _ in range(_MAX_ATTEMPTS):
        try:
            stored = await store.get_versioned(key.sidecar)
            sidecar = parse_sidecar(stored.data)
        except (ObjectNotFound, InvalidSidecar):
            return
        if sidecar.bilko_document_id != document_id or sidecar.document_name is None or sidecar.attempt_id is not None:
            return
        unnamed = replace(sidecar, document_name=None).to_bytes()
        if await store.put_if_match(key.sidecar, unnamed, version=stored.version):
            return
    raise JobBeingCancelled


async def undo_cancel(queue: VersionedObjectStore, key: JobKey) -> None:
    """Undo a cancellation that was not completed."""
    stored = await queue.get_versioned(key.sidecar)
    sidecar = parse_sidecar(stored.data)
    if sidecar.cancelled_at is not None:
        await queue.put_if_match(key.sidecar, replace(sidecar, cancelled_at=None).to_bytes(), version=stored.version)


async def keep_paperless_document(stores: HandoverStores, key: JobKey) -> bool:
    """Copy the document that Paperless hides from us from a dead letter to the queued job, so that the file is not
    uploaded again. Return False if the job kept changing."""
    dead_letter = await find_sidecar(stores.dead_letters, key)
    if dead_letter is None or dead_letter.paperless_document_id is None:
        return True
    for _ in range(_MAX_ATTEMPTS):
        try:
            stored = await stores.queue.get_versioned(key.sidecar)
            sidecar = replace(parse_sidecar(stored.data), paperless_document_id=dead_letter.paperless_document_id)
        except (ObjectNotFound, InvalidSidecar):
            return False
        if await stores.queue.put_if_match(key.sidecar, sidecar.to_bytes(), version=stored.version):
            return True
    return False


async def delete_job(store: VersionedObjectStore, key: JobKey) -> bool:
    """Delete the PDF, then the sidecar. Return whether both are gone."""
    for name in (key.pdf, key.sidecar):
        await store.delete(name)
    return not (await store.exists(key.pdf) or await store.exists(key.sidecar))


def _parse_or_default(data: bytes, default: Sidecar) -> Sidecar:
    try:
        return parse_sidecar(data)
    except InvalidSidecar:
        return default  # the archiver cannot read it either
