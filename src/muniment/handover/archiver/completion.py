"""Verify the stored document, report it to the API, then delete the job from the queue (I6)."""

import hashlib
from uuid import UUID

from muniment.handover.archiver.job_state import Failed, Noted
from muniment.handover.archiver.monitoring import report_added_tags
from muniment.handover.archiver.paperless_objects import Ids
from muniment.handover.archiver.pass_context import Tools
from muniment.handover.internal.client import Said
from muniment.handover.job_key import JobKey
from muniment.handover.paperless.client import Paperless
from muniment.handover.paperless.errors import Gone
from muniment.handover.paperless.models import PaperlessDocument
from muniment.handover.sidecar import InvalidSidecar
from muniment.storage.objects.port import BlobNotFound


async def has_bytes(paperless: Paperless, document_id: int, sha256: str) -> bool:
    """By the checksum where that is a SHA-256; else by the bytes themselves. An MD5 proves nothing."""
    if (await paperless.version()).has_sha256:
        return await paperless.checksum(document_id) == sha256
    digest = hashlib.sha256()
    async for piece in paperless.original(document_id):
        digest.update(piece)
    return digest.hexdigest() == sha256


async def prove(tools: Tools, noted: Noted, document: PaperlessDocument, ids: Ids) -> PaperlessDocument:
    """The document as it was read back, or `Failed`: it stays in the queue."""
    if not await has_bytes(tools.paperless, document.id, noted.key.sha256):
        raise _unproven(document, "has different content")
    document = await _with_tags(tools, document, ids)
    # Somebody else's copy keeps the correspondent that they gave it.
    is_uploaded_by_us = document.original_file_name == noted.sidecar.file_name
    if is_uploaded_by_us and document.correspondent != ids.correspondent:
        raise _unproven(document, "has another correspondent")
    report_added_tags(noted.key, document, ids)
    return document


async def _with_tags(tools: Tools, document: PaperlessDocument, ids: Ids) -> PaperlessDocument:
    """A rule of Paperless may have taken them away: once more."""
    if ids.telling_tags <= document.tags:
        return document
    await tools.lease.check()
    await tools.paperless.add_tags(document.id, ids.tags)
    again = await tools.paperless.document(document.id)
    if again is None:
        raise Gone
    if not ids.telling_tags <= again.tags:
        raise _unproven(document, "did not keep its tags")
    return again


def _unproven(document: PaperlessDocument, why: str) -> Failed:
    return Failed(f"Document {document.id} in Paperless {why}", is_certain=True)


async def close(tools: Tools, noted: Noted, document: PaperlessDocument) -> None:
    """Doing it twice changes nothing. `UnknownOrganization` before anything is deleted."""
    said = archived(tools, noted, document.id)
    await tools.api.say(noted.sidecar.bilko_document_id, noted.key, said)
    if (other := await _other_document(noted)) is not None:
        await tools.api.say(other, noted.key, said)
    await remove(tools, noted.key)


def archived(tools: Tools, noted: Noted, document_id: int) -> Said:
    return Said(
        "archived",
        retry_count=noted.sidecar.retry_count,
        paperless_doc_id=document_id,
        paperless_doc_url=f"{tools.options.paperless_url.rstrip('/')}/documents/{document_id}/",
        archived_at=tools.clock.now(),
    )


async def remove(tools: Tools, key: JobKey) -> None:
    """In this order: a sidecar that is left over tells what to look for, a PDF alone would not."""
    await tools.lease.check()
    await tools.stores.queue.delete(key.pdf)
    await tools.lease.check()
    await tools.stores.queue.delete(key.sidecar)


async def _other_document(noted: Noted) -> UUID | None:
    """A producer may have written the sidecar anew for another document with the same bytes, which ends here too."""
    try:
        now = await Noted.read(noted.queue, noted.key)
    except (BlobNotFound, InvalidSidecar):
        return None
    found = now.sidecar.bilko_document_id
    return found if found != noted.sidecar.bilko_document_id else None
