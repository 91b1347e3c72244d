"""A proven document leaves the queue: first everybody is told, then the PDF goes, then the sidecar."""

from uuid import UUID

from muniment.archival.archiver.notes import Noted
from muniment.archival.archiver.tools import Tools
from muniment.archival.internal_client import Said
from muniment.archival.keys import JobKey
from muniment.archival.paperless.values import PaperlessDocument
from muniment.archival.sidecar import InvalidSidecar
from muniment.storage.blobs.port import BlobNotFound


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
