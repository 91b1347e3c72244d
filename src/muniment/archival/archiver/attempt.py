"""An upload, and what becomes of it."""

from datetime import datetime

from muniment.archival.archiver.copies import put_away_double, take_duplicate
from muniment.archival.archiver.names import document_title
from muniment.archival.archiver.notes import Changed, Noted
from muniment.archival.archiver.objects import Ids
from muniment.archival.archiver.outcomes import Dead, Failed, Left
from muniment.archival.archiver.reconciliation import reconcile
from muniment.archival.archiver.tools import Tools
from muniment.archival.paperless.content import Pdf
from muniment.archival.paperless.task_results import Failure, Task
from muniment.archival.paperless.values import PaperlessDocument
from muniment.storage.blobs.port import BlobNotFound

_POLL_SECONDS = (0.2, 0.5, 1.0, 2.0)


async def upload(tools: Tools, noted: Noted, ids: Ids, pdf: Pdf) -> None:
    """Accepted by Paperless, and noted. After `Unclear` the note tells under which name to look for it."""
    sidecar = noted.sidecar
    await tools.lease.check()
    if sidecar.attempt_id is None or sidecar.task_id is not None:
        await noted.begin()
        await tools.lease.check()
    assert noted.sidecar.file_name is not None
    task_id = await tools.paperless.upload(
        pdf,
        file_name=noted.sidecar.file_name,
        title=document_title(sidecar),
        created=sidecar.timestamp.date(),
        correspondent=ids.correspondent,
        document_type=ids.document_type,
        tags=ids.tags,
        custom_fields=ids.fields,
    )
    tools.pace.note_accepted(noted.key)
    try:
        await noted.uploaded(task_id, tools.clock.now())
    except (Changed, BlobNotFound):
        await _take_back(tools, noted, ids, task_id)
        raise


async def _take_back(tools: Tools, noted: Noted, ids: Ids, task_id: str) -> None:
    """Somebody wrote the sidecar while we uploaded: a producer, or an archiver that took the job while we were away.
    The next look at the job finds the document by its tags; if the other one uploaded it too, ours is put away.

    Without the lease, which is theirs now: what is put away here is what they have not, or decide the same about.
    """
    task = await _watched(tools, task_id)
    if task is not None and task.failure is None and task.document_id is not None:
        await put_away_double(tools, noted.key, ids.telling_tags, task.document_id)


async def follow(tools: Tools, noted: Noted, ids: Ids) -> PaperlessDocument | None:
    """What was made of the upload; nothing if it has to be uploaded again. `Left` while Paperless is still at it."""
    assert noted.sidecar.task_id is not None
    task = await _watched(tools, noted.sidecar.task_id)
    if task is None:
        return await reconcile(tools, noted, ids, "Paperless does not know the task of the upload any more")
    if not task.is_done:
        if not _is_late(tools, noted):
            raise Left("Paperless has not taken the file in yet")
        return await reconcile(tools, noted, ids, "Paperless did not take the file in within the time it has")
    if task.failure is not None:
        return await _after_failure(tools, noted, ids, task)
    found = None if task.document_id is None else await tools.paperless.document(task.document_id)
    return found or await reconcile(tools, noted, ids, "Paperless took the file in but does not show the document")


async def _after_failure(tools: Tools, noted: Noted, ids: Ids, task: Task) -> PaperlessDocument:
    if task.failure is Failure.DUPLICATE:
        return await take_duplicate(tools, noted.key, ids, task)
    said = f"Paperless could not take the file in: {task.result or 'it does not say why'}"
    if task.failure is Failure.OF_THE_FILE:
        raise Dead(said)
    raise Failed(said, forgets_attempt=True)


async def _watched(tools: Tools, task_id: str) -> Task | None:
    """Until it is done, or our patience is at its end."""
    until = min(tools.clock.now() + tools.options.follows, tools.pace.follows_until)
    looks = 0
    while True:
        task = await tools.paperless.task(task_id)
        if task is None or task.is_done or not _goes_on(tools, until):
            return task
        await tools.clock.sleep(_POLL_SECONDS[min(looks, len(_POLL_SECONDS) - 1)])
        looks += 1


def _goes_on(tools: Tools, until: datetime) -> bool:
    return tools.clock.now() < until and tools.pace.stopped_by is None


def _is_late(tools: Tools, noted: Noted) -> bool:
    since = noted.sidecar.uploaded_at or noted.sidecar.timestamp
    return tools.clock.now() - since > tools.options.task_deadline
