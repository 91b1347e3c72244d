"""Find copies that Paperless already holds, adopt one, and trash our own duplicates."""

import re

from muniment.handover.archiver.completion import different_content, matches_sha256
from muniment.handover.archiver.job_state import JobRejected, VersionedSidecar
from muniment.handover.archiver.monitoring import log_duplicates
from muniment.handover.archiver.paperless_objects import DocumentObjectIds
from muniment.handover.archiver.pass_context import PassContext
from muniment.handover.job_key import JobKey
from muniment.handover.paperless.errors import DocumentForbidden, PaperlessDocumentGone
from muniment.handover.paperless.models import ConsumeTask, PaperlessDocument, PdfContent
from muniment.handover.queue import find_sidecar


async def find_tagged_copy(context: PassContext, key: JobKey, ids: DocumentObjectIds) -> PaperlessDocument | None:
    """Return the document with the tags of this content and this organization. Of several, choose one."""
    found = await context.paperless.find_tagged(ids.identity_tags)
    if len(found) > 1:
        return await _choose_copy(context, key, found)
    return found[0] if found else None


async def _choose_copy(context: PassContext, key: JobKey, found: list[PaperlessDocument]) -> PaperlessDocument:
    """Choose a confirmed copy, otherwise the one with the lowest id.

    Trash the others only if we uploaded them, their bytes are identical, and no record names them as confirmed.
    """
    identical = [document for document in found if await matches_sha256(context.paperless, document.id, key.sha256)]
    if not identical:
        raise different_content([document.id for document in found])
    confirmed = await context.api.list_confirmed_ids(key.organization_id, key.sha256)
    chosen = min(identical, key=lambda document: (document.id not in confirmed, document.id))
    for duplicate in identical:
        if duplicate.id not in {chosen.id, *confirmed} and _is_uploaded_by_us(duplicate, key):
            await context.lease.check()
            await context.paperless.move_to_trash(duplicate.id)
    other_ids = [document.id for document in found if document is not chosen]
    context.report.warnings.append(log_duplicates(key, chosen.id, other_ids))
    return chosen


async def trash_own_duplicate(context: PassContext, key: JobKey, identity_tags: frozenset[int], own_id: int) -> None:
    """Trash our own upload if another copy has a lower id, unless a record names ours as confirmed.

    An archiver that took over the job decides the same way.
    """
    others = [document.id for document in await context.paperless.find_tagged(identity_tags) if document.id != own_id]
    if not others:
        return
    kept_id = own_id
    is_duplicate = min(others) < own_id and await matches_sha256(context.paperless, min(others), key.sha256)
    if is_duplicate and own_id not in await context.api.list_confirmed_ids(key.organization_id, key.sha256):
        await context.paperless.move_to_trash(own_id)
        kept_id = min(others)
    duplicate_ids = sorted({own_id, *others} - {kept_id})
    context.report.warnings.append(log_duplicates(key, kept_id, duplicate_ids))


def _is_uploaded_by_us(document: PaperlessDocument, key: JobKey) -> bool:
    pattern = rf"[a-z0-9-]+-{key.sha256[:12]}-[0-9a-f]{{32}}\.pdf"
    return re.fullmatch(pattern, document.original_file_name or "") is not None


async def find_untagged_copy(
    context: PassContext, job: VersionedSidecar, ids: DocumentObjectIds, pdf: PdfContent
) -> PaperlessDocument | None:
    """Adopt a copy that someone else added to Paperless, or restore our own from the trash."""
    for document in await context.paperless.find_by_checksum(pdf):
        if await _may_adopt(context, document, ids) and await _matches_if_present(context, document, job.key):
            return await adopt(context, document.id, ids)
    return await find_trashed_copy(context, job, ids)


async def _may_adopt(context: PassContext, document: PaperlessDocument, ids: DocumentObjectIds) -> bool:
    """Return whether the copy may be tagged as ours. Another organization's may not, where a second one is possible."""
    has_other_owner = ids.content_tag in document.tags
    return not has_other_owner or not (await context.paperless.version()).has_sha256


async def _matches_if_present(context: PassContext, document: PaperlessDocument, key: JobKey) -> bool:
    try:
        return await matches_sha256(context.paperless, document.id, key.sha256)
    except PaperlessDocumentGone:
        return False


async def find_trashed_copy(
    context: PassContext, job: VersionedSidecar, ids: DocumentObjectIds
) -> PaperlessDocument | None:
    """Restore and adopt our copy from the trash, unless the settings prefer a new upload and Paperless accepts one."""
    if not context.options.restore_trashed and (await context.paperless.version()).has_sha256:
        return None
    for document_id in await context.trash.find(ids.source_tag, ids.identity_tags, job.sidecar.file_name):
        await _restore(context, document_id)
        if await matches_sha256(context.paperless, document_id, job.key.sha256):
            return await adopt(context, document_id, ids)
        await context.paperless.move_to_trash(document_id)  # part of a file that Paperless has split
    return None


async def find_hidden_copy(
    context: PassContext, job: VersionedSidecar, ids: DocumentObjectIds
) -> PaperlessDocument | None:
    """Return a document that an earlier attempt created and could not access, if the token now can.

    Raise `JobRejected` while it cannot: a second upload would be a second copy.
    """
    for document_id in await _list_hidden_ids(context, job):
        if await context.paperless.find_document(document_id) is None:
            raise await reject_hidden(job, document_id)
        if await matches_sha256(context.paperless, document_id, job.key.sha256):
            return await adopt(context, document_id, ids)
    return None


async def _list_hidden_ids(context: PassContext, job: VersionedSidecar) -> list[int]:
    """Return the documents that this job and the dead letters of its content could not access."""
    dead_letters = context.stores.dead_letters
    sidecars = [
        job.sidecar,
        *[await find_sidecar(dead_letters, key) for key in await context.dead_letters.find(job.key)],
    ]
    found = {sidecar.paperless_document_id for sidecar in sidecars if sidecar is not None}
    return sorted(document_id for document_id in found if document_id is not None)


async def reject_hidden(job: VersionedSidecar, document_id: int) -> JobRejected:
    """Record the document in the sidecar, which becomes that of the dead letter, and return the error."""
    await job.record_hidden_document(document_id)
    return JobRejected(
        f"Paperless imported the file as document {document_id}, but the token has no permission to view it. "
        "A workflow may have assigned another owner. Give the archiver's user access to the document, then requeue"
    )


async def adopt_duplicate(
    context: PassContext, key: JobKey, ids: DocumentObjectIds, task: ConsumeTask
) -> PaperlessDocument:
    """Adopt the document of which Paperless says that the upload is a duplicate. Raise `JobRejected` if that fails."""
    assert task.document_id is not None
    # Paperless does not say of a copy that belongs to another user whether it is in the trash.
    if task.is_in_trash or await context.paperless.find_document(task.document_id) is None:
        try:
            await _restore(context, task.document_id)
        except PaperlessDocumentGone:
            raise JobRejected(
                f"Paperless already has this file as document {task.document_id}, which the token cannot access"
            ) from None
    if not await matches_sha256(context.paperless, task.document_id, key.sha256):
        raise JobRejected(f"Paperless reports a duplicate of document {task.document_id}, but that file is different")
    return await adopt(context, task.document_id, ids)


async def adopt(context: PassContext, document_id: int, ids: DocumentObjectIds) -> PaperlessDocument:
    """Add our tags, and our metadata where the document has none. The tags come last: they mark it as ours."""
    await context.lease.check()
    await context.paperless.fill_missing_metadata(
        document_id, correspondent=ids.correspondent, document_type=ids.document_type, custom_fields=ids.custom_fields
    )
    await context.paperless.add_tags(document_id, ids.tags)
    document = await context.paperless.find_document(document_id)
    if document is None:
        raise PaperlessDocumentGone
    return document


async def _restore(context: PassContext, document_id: int) -> None:
    await context.lease.check()
    try:
        await context.paperless.restore(document_id)
    except DocumentForbidden:
        raise JobRejected(
            f"Paperless has this file in its trash (document {document_id}), and the token cannot restore it"
        ) from None
    finally:
        context.trash.invalidate()
