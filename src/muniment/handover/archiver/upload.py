"""Upload a PDF, wait for its task, locate an upload whose response was lost, and record abandoned uploads."""

import json
from dataclasses import dataclass
from datetime import datetime

from muniment.handover.archiver.existing_copies import adopt, find_in_trash, find_own, put_away_double, take_duplicate
from muniment.handover.archiver.job_state import Changed, Dead, Failed, Left, Noted
from muniment.handover.archiver.paperless_objects import Ids, document_title
from muniment.handover.archiver.pass_context import Tools
from muniment.handover.archiver.retry_policy import MAX_RETRIES
from muniment.handover.job_key import JobKey
from muniment.handover.paperless.models import Failure, PaperlessDocument, Pdf, Task
from muniment.storage.objects.port import BlobNotFound


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
        return await reconcile(tools, noted, ids, "Paperless no longer has the upload task")
    if not task.is_done:
        if not _is_late(tools, noted):
            raise Left("Paperless has not finished importing the file")
        return await reconcile(tools, noted, ids, "Paperless did not import the file in time")
    if task.failure is not None:
        return await _after_failure(tools, noted, ids, task)
    found = None if task.document_id is None else await tools.paperless.document(task.document_id)
    return found or await reconcile(tools, noted, ids, "Paperless imported the file but does not show the document")


async def _after_failure(tools: Tools, noted: Noted, ids: Ids, task: Task) -> PaperlessDocument:
    if task.failure is Failure.DUPLICATE:
        return await take_duplicate(tools, noted.key, ids, task)
    said = f"Paperless could not import the file: {task.result or 'no reason given'}"
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


PREFIX = "archiver/late/"


@dataclass(frozen=True)
class Late:
    """An upload whose end nobody saw."""

    key: JobKey
    file_name: str
    task_id: str
    given_up_at: datetime

    @property
    def note(self) -> str:
        return f"{PREFIX}{self.file_name}.json"

    def to_bytes(self) -> bytes:
        fields = {"r2Key": self.key.pdf, "fileName": self.file_name, "taskId": self.task_id}
        return json.dumps(fields | {"givenUpAt": self.given_up_at.isoformat()}).encode()

    @classmethod
    def read(cls, data: bytes) -> "Late | None":
        """Nothing where this is no note of ours."""
        try:
            found = json.loads(data)
            key = JobKey.parse(found["r2Key"])
            at = datetime.fromisoformat(found["givenUpAt"])
            return cls(key, str(found["fileName"]), str(found["taskId"]), at) if key else None
        except (ValueError, KeyError, TypeError):
            return None


async def remember(tools: Tools, noted: Noted) -> None:
    """Before the sidecar forgets the attempt."""
    assert noted.sidecar.file_name is not None
    assert noted.sidecar.task_id is not None
    late = Late(noted.key, noted.sidecar.file_name, noted.sidecar.task_id, tools.clock.now())
    await tools.stores.queue.put_new(late.note, late.to_bytes())
