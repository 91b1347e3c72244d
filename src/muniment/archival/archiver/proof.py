"""Whether a document in Paperless is this one, whole and where it belongs. Only then does it leave the queue (I6)."""

import hashlib

from muniment.archival.archiver.lines import report_added_tags
from muniment.archival.archiver.notes import Noted
from muniment.archival.archiver.objects import Ids
from muniment.archival.archiver.outcomes import Failed
from muniment.archival.archiver.tools import Tools
from muniment.archival.paperless.client import Paperless
from muniment.archival.paperless.errors import Gone
from muniment.archival.paperless.values import PaperlessDocument


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
        raise _unproven(document, "has other bytes")
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
        raise _unproven(document, "does not keep our tags")
    return again


def _unproven(document: PaperlessDocument, why: str) -> Failed:
    return Failed(f"Document {document.id} in Paperless {why}", is_certain=True)
