"""Find copies that Paperless already holds, adopt one, and trash our own duplicates."""

import re

from muniment.handover.archiver.completion import has_bytes
from muniment.handover.archiver.job_state import Dead, Noted
from muniment.handover.archiver.monitoring import report_doubles
from muniment.handover.archiver.paperless_objects import Ids
from muniment.handover.archiver.pass_context import Tools
from muniment.handover.job_key import JobKey
from muniment.handover.paperless.errors import Gone, NotForThis
from muniment.handover.paperless.models import PaperlessDocument, Pdf, Task


async def find_own(tools: Tools, key: JobKey, ids: Ids) -> PaperlessDocument | None:
    """With the tag of these bytes and that of this organization. Of several the lowest id stays."""
    found = await tools.paperless.find_tagged(ids.telling_tags)
    if len(found) > 1:
        return await _one_of(tools, key, found)
    return found[0] if found else None


async def _one_of(tools: Tools, key: JobKey, found: list[PaperlessDocument]) -> PaperlessDocument:
    """After a lost answer there may be two. Only what we uploaded ourselves, and only the same bytes, is put away."""
    same = [document for document in found if await has_bytes(tools.paperless, document.id, key.sha256)]
    if not same:
        return found[0]
    kept, doubles = same[0], [document for document in same[1:] if _is_uploaded_by_us(document, key)]
    for double in doubles:
        await tools.lease.check()
        await tools.paperless.trash(double.id)
    tools.reports.append(report_doubles(key, kept.id, [document.id for document in found if document is not kept]))
    return kept


async def put_away_double(tools: Tools, key: JobKey, telling_tags: frozenset[int], ours: int) -> None:
    """Our own upload, if there is another: the lower id stays, as whoever took the job from us would decide it, too."""
    others = [document.id for document in await tools.paperless.find_tagged(telling_tags) if document.id != ours]
    if not others:
        return
    if min(others) < ours and await has_bytes(tools.paperless, min(others), key.sha256):
        await tools.paperless.trash(ours)
    tools.reports.append(report_doubles(key, min(others), [ours]))


def _is_uploaded_by_us(document: PaperlessDocument, key: JobKey) -> bool:
    ours = rf"[a-z0-9-]+-{key.sha256[:12]}-[0-9a-f]{{32}}\.pdf"
    return re.fullmatch(ours, document.original_file_name or "") is not None


async def find_elsewhere(tools: Tools, noted: Noted, ids: Ids, pdf: Pdf) -> PaperlessDocument | None:
    """A copy that somebody else put there, or our own in the trash, made ours."""
    for document in await tools.paperless.find_by_checksum(pdf):
        if await _is_to_share(tools, document, ids) and await _has_bytes(tools, document, noted.key):
            return await adopt(tools, document.id, ids)
    return await find_in_trash(tools, noted, ids)


async def _is_to_share(tools: Tools, document: PaperlessDocument, ids: Ids) -> bool:
    """Another organization's copy stays its own, where Paperless takes a second one."""
    is_anothers = ids.content_tag in document.tags
    return not is_anothers or not (await tools.paperless.version()).has_sha256


async def _has_bytes(tools: Tools, document: PaperlessDocument, key: JobKey) -> bool:
    try:
        return await has_bytes(tools.paperless, document.id, key.sha256)
    except Gone:
        return False


async def find_in_trash(tools: Tools, noted: Noted, ids: Ids) -> PaperlessDocument | None:
    """What lies there is no archive copy: it is brought back, unless a new one is wanted and possible."""
    if not tools.options.restores_trashed and (await tools.paperless.version()).has_sha256:
        return None
    found = await tools.trash.find(ids.source_tag, ids.telling_tags, noted.sidecar.file_name)
    if found is None:
        return None
    await _restore(tools, found)
    return await adopt(tools, found, ids)


async def take_duplicate(tools: Tools, key: JobKey, ids: Ids, task: Task) -> PaperlessDocument:
    """Paperless refused the upload for a document that it has: that one is made ours, or the job is `Dead`."""
    assert task.document_id is not None
    if task.is_in_trash:
        await _restore(tools, task.document_id)
    if await tools.paperless.document(task.document_id) is None:
        raise Dead(f"Paperless already has this file as document {task.document_id}, which the token cannot access")
    if not await has_bytes(tools.paperless, task.document_id, key.sha256):
        raise Dead(f"Paperless reports a duplicate of document {task.document_id}, but that file is different")
    return await adopt(tools, task.document_id, ids)


async def adopt(tools: Tools, document_id: int, ids: Ids) -> PaperlessDocument:
    """Our tags, and what else we have to say only where nothing is said. The tags last: they make it ours."""
    await tools.lease.check()
    await tools.paperless.set_where_empty(
        document_id, correspondent=ids.correspondent, document_type=ids.document_type, custom_fields=ids.fields
    )
    await tools.paperless.add_tags(document_id, ids.tags)
    document = await tools.paperless.document(document_id)
    if document is None:
        raise Gone
    return document


async def _restore(tools: Tools, document_id: int) -> None:
    await tools.lease.check()
    try:
        await tools.paperless.restore(document_id)
    except NotForThis:
        raise Dead(
            f"Paperless has this file in its trash (document {document_id}), and the token cannot restore it"
        ) from None
    finally:
        tools.trash.forget()
