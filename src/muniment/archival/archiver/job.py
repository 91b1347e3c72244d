"""One job, from its sidecar to the proof. Every step can be taken again: whoever begins, looks first."""

from muniment.archival.archiver.attempt import follow, upload
from muniment.archival.archiver.copies import find_elsewhere, find_own
from muniment.archival.archiver.notes import Noted
from muniment.archival.archiver.objects import Ids
from muniment.archival.archiver.outcomes import Dead, Failed, Left
from muniment.archival.archiver.pdf import opened_pdf
from muniment.archival.archiver.proof import prove
from muniment.archival.archiver.reconciliation import MAX_RETRIES, find_lost
from muniment.archival.archiver.tools import Tools
from muniment.archival.keys import JobKey
from muniment.archival.paperless.values import PaperlessDocument
from muniment.archival.sidecar import InvalidSidecar
from muniment.storage.blobs.port import BlobNotFound


async def take(tools: Tools, key: JobKey) -> Noted:
    """The sidecar of a job that is to be archived; `Dead` if it is none, `Left` if somebody takes the job back."""
    try:
        noted = await Noted.read(tools.stores.queue, key)
    except BlobNotFound:
        raise Left("The job is gone") from None
    except InvalidSidecar as error:
        raise Dead(f"The sidecar cannot be read: {error}") from None
    if noted.sidecar.key != key:
        raise Dead("The sidecar belongs to another job")
    if noted.sidecar.cancelled_at is not None:
        raise Left("The job is being taken back")
    return noted


async def bring_in(tools: Tools, noted: Noted) -> PaperlessDocument:
    """The document in Paperless, proven."""
    if noted.sidecar.retry_count >= MAX_RETRIES:
        raise Dead(noted.sidecar.last_error or "It failed too often")
    ids = await tools.objects.ids_of(noted.sidecar)
    was_begun = noted.sidecar.attempt_id is not None
    document = await find_own(tools, noted.key, ids)
    if document is None and was_begun:
        document = await _continue(tools, noted, ids)
    if document is None:
        document = await _begin(tools, noted, ids)
    proven = await prove(tools, noted, document, ids)
    # An upload that was given up may have arrived behind the one that was proven.
    return await find_own(tools, noted.key, ids) or proven if was_begun else proven


async def _continue(tools: Tools, noted: Noted, ids: Ids) -> PaperlessDocument | None:
    """What became of an upload that was begun; nothing if there has to be another."""
    if noted.sidecar.task_id is None and (found := await find_lost(tools, noted, ids)):
        return found
    return await follow(tools, noted, ids) if noted.sidecar.task_id is not None else None


async def _begin(tools: Tools, noted: Noted, ids: Ids) -> PaperlessDocument:
    async with opened_pdf(tools.stores.queue, noted.key) as pdf:
        if found := await find_elsewhere(tools, noted, ids, pdf):
            return found
        if tools.pace.is_closed:
            raise Left("This pass takes nothing more in")
        await upload(tools, noted, ids, pdf)
    if found := await follow(tools, noted, ids):
        return found
    raise Failed("Paperless accepted the file and then knew nothing of it")
