"""Upload a PDF, wait for its task, locate an upload whose response was lost, and record abandoned uploads."""

import json
from dataclasses import dataclass
from datetime import datetime

from muniment.handover.archiver.existing_copies import (
    adopt,
    adopt_duplicate,
    find_tagged_copy,
    find_trashed_copy,
    trash_own_duplicate,
)
from muniment.handover.archiver.job_state import JobDeferred, JobFailed, JobRejected, SidecarChanged, VersionedSidecar
from muniment.handover.archiver.paperless_objects import DocumentObjectIds, document_title
from muniment.handover.archiver.pass_context import PassContext
from muniment.handover.archiver.retry_policy import MAX_RETRIES
from muniment.handover.job_key import JobKey
from muniment.handover.paperless.models import ConsumeTask, PaperlessDocument, PdfContent, TaskFailure
from muniment.storage.objects.port import ObjectNotFound


async def locate_or_reset(
    context: PassContext, job: VersionedSidecar, ids: DocumentObjectIds, reason: str
) -> PaperlessDocument | None:
    """The document, wherever it went; else it counts, and nothing: it is to be uploaded again. `JobRejected` at the third."""
    if found := await _locate_document(context, job, ids):
        return found
    await record_abandoned(context, job)
    await job.record_failure(reason, counts=True, now=context.clock.now(), discards_attempt=True)
    if job.sidecar.retry_count >= MAX_RETRIES:
        raise JobRejected(reason)
    return None


async def locate_unacknowledged(
    context: PassContext, job: VersionedSidecar, ids: DocumentObjectIds
) -> PaperlessDocument | None:
    """After an upload without an answer: the document, or its task, which is noted then; or it never arrived."""
    assert job.sidecar.file_name is not None
    if found := await _locate_document(context, job, ids):
        return found
    task = _preferred_task(await context.paperless.list_tasks_by_file_name(job.sidecar.file_name))
    if task is not None and await _can_wait_for(context, task):
        await job.record_task(task.task_id, context.clock.now())
    return None


async def _can_wait_for(context: PassContext, task: ConsumeTask) -> bool:
    """Without its Redis 2.x fails an upload and leaves a task that never runs. There, where the same bytes are refused
    the second time, it is safe to upload again instead of waiting for a day."""
    return task.is_done or (await context.paperless.version()).has_sha256


async def _locate_document(
    context: PassContext, job: VersionedSidecar, ids: DocumentObjectIds
) -> PaperlessDocument | None:
    # Once more by its tags: it may have appeared since the job was begun.
    if own := await find_tagged_copy(context, job.key, ids):
        return own
    for document in await context.paperless.find_by_file_name(job.sidecar.file_name or job.key.sha256):
        return await adopt(context, document.id, ids)
    context.trash.invalidate()
    return await find_trashed_copy(context, job, ids)


def _preferred_task(tasks: list[ConsumeTask]) -> ConsumeTask | None:
    """One that succeeded or still may; else the last."""
    return min(tasks, key=lambda task: (task.failure is not None, -task.id), default=None)


_POLL_SECONDS = (0.2, 0.5, 1.0, 2.0)


async def upload(context: PassContext, job: VersionedSidecar, ids: DocumentObjectIds, pdf: PdfContent) -> None:
    """Accepted by Paperless, and noted. After `OutcomeUnknown` the note tells under which name to look for it."""
    sidecar = job.sidecar
    await context.lease.check()
    if sidecar.attempt_id is None or sidecar.task_id is not None:
        await job.start_attempt()
        await context.lease.check()
    assert job.sidecar.file_name is not None
    task_id = await context.paperless.upload(
        pdf,
        file_name=job.sidecar.file_name,
        title=document_title(sidecar),
        created=sidecar.timestamp.date(),
        correspondent=ids.correspondent,
        document_type=ids.document_type,
        tags=ids.tags,
        custom_fields=ids.custom_fields,
    )
    context.breaker.record_success(job.key)
    try:
        await job.record_task(task_id, context.clock.now())
    except (SidecarChanged, ObjectNotFound):
        await _remove_own_upload(context, job, ids, task_id)
        raise


async def _remove_own_upload(context: PassContext, job: VersionedSidecar, ids: DocumentObjectIds, task_id: str) -> None:
    """Somebody wrote the sidecar while we uploaded: a producer, or an archiver that took the job while we were away.
    The next look at the job finds the document by its tags; if the other one uploaded it too, ours is put away.

    Without the lease, which is theirs now: what is put away here is what they have not, or decide the same about.
    """
    task = await _poll_task(context, task_id)
    if task is not None and task.failure is None and task.document_id is not None:
        await trash_own_duplicate(context, job.key, ids.identity_tags, task.document_id)


async def await_task(context: PassContext, job: VersionedSidecar, ids: DocumentObjectIds) -> PaperlessDocument | None:
    """What was made of the upload; nothing if it has to be uploaded again. `Left` while Paperless is still at it."""
    assert job.sidecar.task_id is not None
    task = await _poll_task(context, job.sidecar.task_id)
    if task is None:
        return await locate_or_reset(context, job, ids, "Paperless no longer has the upload task")
    if not task.is_done:
        if not _is_overdue(context, job):
            raise JobDeferred("Paperless has not finished importing the file")
        return await locate_or_reset(context, job, ids, "Paperless did not import the file in time")
    if task.failure is not None:
        return await _handle_failure(context, job, ids, task)
    found = None if task.document_id is None else await context.paperless.find_document(task.document_id)
    return found or await locate_or_reset(
        context, job, ids, "Paperless imported the file but does not show the document"
    )


async def _handle_failure(
    context: PassContext, job: VersionedSidecar, ids: DocumentObjectIds, task: ConsumeTask
) -> PaperlessDocument:
    if task.failure is TaskFailure.DUPLICATE:
        return await adopt_duplicate(context, job.key, ids, task)
    said = f"Paperless could not import the file: {task.result or 'no reason given'}"
    if task.failure is TaskFailure.INVALID_FILE:
        raise JobRejected(said)
    raise JobFailed(said, discards_attempt=True)


async def _poll_task(context: PassContext, task_id: str) -> ConsumeTask | None:
    """Until it is done, or our patience is at its end."""
    until = min(context.clock.now() + context.options.task_wait, context.breaker.poll_until)
    looks = 0
    while True:
        task = await context.paperless.find_task(task_id)
        if task is None or task.is_done or not _may_poll(context, until):
            return task
        await context.clock.sleep(_POLL_SECONDS[min(looks, len(_POLL_SECONDS) - 1)])
        looks += 1


def _may_poll(context: PassContext, until: datetime) -> bool:
    return context.clock.now() < until and context.breaker.stopped_by is None


def _is_overdue(context: PassContext, job: VersionedSidecar) -> bool:
    since = job.sidecar.uploaded_at or job.sidecar.timestamp
    return context.clock.now() - since > context.options.task_deadline


ABANDONED_PREFIX = "archiver/late/"


@dataclass(frozen=True)
class AbandonedUpload:
    """An upload whose end nobody saw."""

    key: JobKey
    file_name: str
    task_id: str
    abandoned_at: datetime

    @property
    def object_key(self) -> str:
        return f"{ABANDONED_PREFIX}{self.file_name}.json"

    def to_bytes(self) -> bytes:
        fields = {"r2Key": self.key.pdf, "fileName": self.file_name, "taskId": self.task_id}
        return json.dumps(fields | {"givenUpAt": self.abandoned_at.isoformat()}).encode()

    @classmethod
    def parse(cls, data: bytes) -> "AbandonedUpload | None":
        """Nothing where this is no note of ours."""
        try:
            found = json.loads(data)
            key = JobKey.parse(found["r2Key"])
            at = datetime.fromisoformat(found["givenUpAt"])
            return cls(key, str(found["fileName"]), str(found["taskId"]), at) if key else None
        except (ValueError, KeyError, TypeError):
            return None


async def record_abandoned(context: PassContext, job: VersionedSidecar) -> None:
    """Before the sidecar forgets the attempt."""
    assert job.sidecar.file_name is not None
    assert job.sidecar.task_id is not None
    late = AbandonedUpload(job.key, job.sidecar.file_name, job.sidecar.task_id, context.clock.now())
    await context.stores.queue.put_if_absent(late.object_key, late.to_bytes())
