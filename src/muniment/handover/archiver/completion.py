"""Verify the stored document, report it to the API, then delete the job from the queue (docs/design.md#i6)."""

import hashlib
from collections.abc import Sequence
from uuid import UUID

from muniment.handover.archiver.job_state import JobFailed, JobRejected, VersionedSidecar
from muniment.handover.archiver.monitoring import log_extra_tags
from muniment.handover.archiver.paperless_objects import DocumentObjectIds
from muniment.handover.archiver.pass_context import PassContext
from muniment.handover.internal.contract import JobStatusUpdate
from muniment.handover.job_key import JobKey
from muniment.handover.paperless.client import PaperlessClient
from muniment.handover.paperless.errors import PaperlessDocumentGone
from muniment.handover.paperless.models import PaperlessDocument
from muniment.handover.sidecar import InvalidSidecar
from muniment.storage.objects.port import ObjectNotFound


async def matches_sha256(paperless: PaperlessClient, document_id: int, sha256: str) -> bool:
    """Compare by checksum if Paperless stores a SHA-256, otherwise by downloading the file. An MD5 proves nothing."""
    if (await paperless.version()).has_sha256:
        return await paperless.get_checksum(document_id) == sha256
    digest = hashlib.sha256()
    async for chunk in paperless.download_original(document_id):
        digest.update(chunk)
    return digest.hexdigest() == sha256


async def verify_document(
    context: PassContext, job: VersionedSidecar, document: PaperlessDocument, ids: DocumentObjectIds
) -> PaperlessDocument:
    """Return the document as it was read back.

    Raise `JobRejected` if its content differs, and `JobFailed` if something else is wrong: the job then stays in the
    queue.
    """
    if not await matches_sha256(context.paperless, document.id, job.key.sha256):
        raise different_content([document.id])
    document = await ensure_tags(context, document, ids)
    # A copy that someone else uploaded keeps its correspondent.
    is_uploaded_by_us = document.original_file_name == job.sidecar.file_name
    if is_uploaded_by_us and document.correspondent != ids.correspondent:
        raise _verification_failed(document, "has another correspondent")
    log_extra_tags(job.key, document, ids)
    return document


async def ensure_tags(context: PassContext, document: PaperlessDocument, ids: DocumentObjectIds) -> PaperlessDocument:
    """Add our tags if some are missing: the document may have another type, or a workflow may have removed them."""
    if ids.proof_tags <= document.tags:
        return document
    await context.lease.check()
    await context.paperless.add_tags(document.id, ids.tags)
    tagged = await context.paperless.find_document(document.id)
    if tagged is None:
        raise PaperlessDocumentGone
    if not ids.proof_tags <= tagged.tags:
        raise _verification_failed(document, "did not keep its tags")
    return tagged


def different_content(document_ids: Sequence[int]) -> JobRejected:
    """Build the error for documents that have our tags or our file name, but not our bytes."""
    which = f"document {document_ids[0]} has" if len(document_ids) == 1 else f"documents {_join(document_ids)} have"
    return stored_differently(f"{which} different content. Delete what is wrong in Paperless, then requeue")


def stored_differently(detail: str) -> JobRejected:
    """Build the error for an import that did not keep the file. Trying again would repeat it."""
    return JobRejected(
        f"Paperless did not store the file as it is: {detail}. Barcode splitting or a script can be the cause"
    )


def _join(document_ids: Sequence[int]) -> str:
    return " and ".join((", ".join(map(str, document_ids[:-1])), str(document_ids[-1])))


def _verification_failed(document: PaperlessDocument, reason: str) -> JobFailed:
    return JobFailed(f"Document {document.id} in Paperless {reason}", is_job_fault=True)


async def complete(context: PassContext, job: VersionedSidecar, document: PaperlessDocument) -> None:
    """Report the document, then delete the job. Idempotent. An unknown organization is an error before any deletion."""
    update = archived_update(context, job, document.id)
    await context.api.report_status(job.sidecar.bilko_document_id, update)
    if (other := await _find_replaced_document_id(job)) is not None:
        await context.api.report_status(other, update)
    await delete_job_objects(context, job.key)


def archived_update(context: PassContext, job: VersionedSidecar, document_id: int) -> JobStatusUpdate:
    return JobStatusUpdate.archived(
        job.key,
        retry_count=job.sidecar.retry_count,
        document_id=document_id,
        url=f"{context.options.paperless_url.rstrip('/')}/documents/{document_id}/",
        at=context.clock.now(),
    )


async def delete_job_objects(context: PassContext, key: JobKey) -> None:
    """Delete the PDF, then the sidecar: a leftover sidecar can be resolved later, a leftover PDF cannot."""
    await context.lease.check()
    await context.stores.queue.delete(key.pdf)
    await context.lease.check()
    await context.stores.queue.delete(key.sidecar)


async def _find_replaced_document_id(job: VersionedSidecar) -> UUID | None:
    """Return the other document for which a producer has rewritten the sidecar in the meantime."""
    try:
        current = await VersionedSidecar.load(job.queue, job.key)
    except (ObjectNotFound, InvalidSidecar):
        return None
    document_id = current.sidecar.bilko_document_id
    return document_id if document_id != job.sidecar.bilko_document_id else None
