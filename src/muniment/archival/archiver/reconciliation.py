"""Where an upload went whose task does not tell: documents, trash and task list under the name that we gave it."""

from muniment.archival.archiver.copies import adopt, find_in_trash, find_own
from muniment.archival.archiver.late import remember
from muniment.archival.archiver.notes import Noted
from muniment.archival.archiver.objects import Ids
from muniment.archival.archiver.outcomes import Dead
from muniment.archival.archiver.tools import Tools
from muniment.archival.paperless.task_results import Task
from muniment.archival.paperless.values import PaperlessDocument

MAX_RETRIES = 3


async def reconcile(tools: Tools, noted: Noted, ids: Ids, why: str) -> PaperlessDocument | None:
    """The document, wherever it went; else it counts, and nothing: it is to be uploaded again. `Dead` at the third."""
    if found := await _find_document(tools, noted, ids):
        return found
    await remember(tools, noted)
    await noted.failed(why, counts=True, now=tools.clock.now(), forgets_attempt=True)
    if noted.sidecar.retry_count >= MAX_RETRIES:
        raise Dead(why)
    return None


async def find_lost(tools: Tools, noted: Noted, ids: Ids) -> PaperlessDocument | None:
    """After an upload without an answer: the document, or its task, which is noted then; or it never arrived."""
    assert noted.sidecar.file_name is not None
    if found := await _find_document(tools, noted, ids):
        return found
    task = _best(await tools.paperless.tasks_of_file(noted.sidecar.file_name))
    if task is not None and await _may_be_waited_for(tools, task):
        await noted.uploaded(task.task_id, tools.clock.now())
    return None


async def _may_be_waited_for(tools: Tools, task: Task) -> bool:
    """Without its Redis 2.x fails an upload and leaves a task that never runs. There, where the same bytes are refused
    the second time, it is safe to upload again instead of waiting for a day."""
    return task.is_done or (await tools.paperless.version()).has_sha256


async def _find_document(tools: Tools, noted: Noted, ids: Ids) -> PaperlessDocument | None:
    # Once more by its tags: it may have appeared since the job was begun.
    if own := await find_own(tools, noted.key, ids):
        return own
    for document in await tools.paperless.find_by_file_name(noted.sidecar.file_name or noted.key.sha256):
        return await adopt(tools, document.id, ids)
    tools.trash.forget()
    return await find_in_trash(tools, noted, ids)


def _best(tasks: list[Task]) -> Task | None:
    """One that succeeded or still may; else the last."""
    return min(tasks, key=lambda task: (task.failure is not None, -task.id), default=None)
