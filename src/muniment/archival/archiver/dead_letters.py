"""What cannot be archived goes to the dead letters: copied, compared, then deleted from the queue."""

import hashlib
from dataclasses import replace

from muniment.archival.archiver.closing import remove
from muniment.archival.archiver.tools import Tools
from muniment.archival.internal_client import NotDone, Said, UnknownOrganization
from muniment.archival.keys import JobKey
from muniment.archival.sidecar import InvalidSidecar, Sidecar, parse
from muniment.archival.stores import QueueStore
from muniment.errors import Unavailable
from muniment.storage.blobs.port import BlobNotFound
from muniment.storage.queues.port import JSON


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
        raise Unavailable("A dead letter was not kept as it was written")


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
        raise Unavailable("A dead letter was not kept as it was written")
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
