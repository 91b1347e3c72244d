"""Upload a PDF, wait for its task, locate an upload whose response was lost, and record abandoned uploads."""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count

from muniment.handover.archiver.completion import different_content, matches_sha256, stored_differently
from muniment.handover.archiver.existing_copies import (
    adopt,
    adopt_duplicate,
    find_tagged_copy,
    find_trashed_copy,
    reject_hidden,
    trash_own_duplicate,
)
from muniment.handover.archiver.job_state import JobDeferred, JobFailed, JobRejected, SidecarChanged, VersionedSidecar
from muniment.handover.archiver.paperless_objects import DocumentObjectIds
from muniment.handover.archiver.pass_context import PassContext
from muniment.handover.job_key import JobKey
from muniment.handover.paperless.errors import OutcomeUnknown, TaskStatusUnknown
from muniment.handover.paperless.models import ConsumeTask, PaperlessDocument, PdfContent, TaskFailure
from muniment.storage.objects.port import JSON_CONTENT_TYPE, ObjectNotFound

TASK_WAIT = timedelta(minutes=1)
"""Time that a job waits for its task before it is left to the next pass."""
ABANDONED_PREFIX = "archiver/late/"
_POLL_SECONDS = (0.2, 0.5, 1.0, 2.0)


async def upload(context: PassContext, job: VersionedSidecar, ids: DocumentObjectIds, pdf: PdfContent) -> None:
    """Upload the PDF and record its task. After `OutcomeUnknown` the sidecar has the file name to look for."""
    sidecar = job.sidecar
    await context.lease.check()
    if sidecar.attempt_id is None or sidecar.task_id is not None:
        await job.start_attempt()
        await context.lease.check()
    assert job.sidecar.file_name is not None
    task_id = await context.paperless.upload(
        pdf,
        file_name=job.sidecar.file_name,
        title=context.objects.document_title(sidecar),
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
    """Trash our upload if someone else, who wrote the sidecar in the meantime, uploaded the document too.

    That may be a producer, or an archiver that took over the job. If ours is the only copy, the next pass finds it by
    its tags. No lease is needed: the other archiver decides the same way about the same documents.
    """
    task = await _poll_task(context, task_id)
    if task is not None and task.failure is None and task.document_id is not None:
        await trash_own_duplicate(context, job.key, ids.identity_tags, task.document_id)


async def await_task(context: PassContext, job: VersionedSidecar, ids: DocumentObjectIds) -> PaperlessDocument:
    """Return the document that the upload task created.

    Raise `JobDeferred` while Paperless may still process the file, and `JobFailed` if it has lost it.
    """
    assert job.sidecar.task_id is not None
    task = await _poll_task(context, job.sidecar.task_id)
    if task is None or not task.is_done:
        return await _locate_or_wait(context, job, ids, task)
    context.consumer.record_finished()
    if task.failure is not None:
        return await _handle_failure(context, job, ids, task)
    return await _get_imported(context, job, ids, task)


async def _get_imported(
    context: PassContext, job: VersionedSidecar, ids: DocumentObjectIds, task: ConsumeTask
) -> PaperlessDocument:
    """Return the document of a successful task, or raise the error that says why there is none for us."""
    document_id = task.document_id
    document = None if document_id is None else await context.paperless.find_document(document_id)
    if document := document or await _locate_document(context, job, ids):
        return document
    if document_id is None:
        raise stored_differently(task.result or "no document was created")
    if await context.trash.find(ids.source_tag, ids.identity_tags, job.sidecar.file_name):
        message = f"Document {document_id} was moved to the trash of Paperless before it was verified"
        raise JobFailed(message, is_job_fault=True, discards_attempt=True)
    raise await reject_hidden(job, document_id)


async def _locate_or_wait(
    context: PassContext, job: VersionedSidecar, ids: DocumentObjectIds, task: ConsumeTask | None
) -> PaperlessDocument:
    """Return the document of a task that is not done or not known any more. It may exist all the same.

    Raise `JobDeferred` as long as the file may still be processed. The upload is repeated only after Paperless has
    skipped it, and is watched afterwards.
    """
    uploaded_at = job.sidecar.uploaded_at or job.sidecar.timestamp
    has_skipped = await context.consumer.has_skipped((task and task.created_at) or uploaded_at)
    if (has_skipped or task is None) and (found := await _locate_document(context, job, ids)):
        return found
    if not has_skipped:
        context.consumer.record_open(uploaded_at)
        raise JobDeferred("Paperless has not finished importing the file")
    await record_abandoned(context, job)
    message = "Paperless did not process the file although it processed later ones"
    raise JobFailed(message, is_job_fault=True, discards_attempt=True)


async def _handle_failure(
    context: PassContext, job: VersionedSidecar, ids: DocumentObjectIds, task: ConsumeTask
) -> PaperlessDocument:
    if task.failure is TaskFailure.DUPLICATE:
        return await adopt_duplicate(context, job.key, ids, task)
    message = f"Paperless could not import the file: {task.result or 'no reason given'}"
    if task.failure is TaskFailure.INVALID_FILE:
        raise JobRejected(message)
    raise JobFailed(message, discards_attempt=True)


async def _poll_task(context: PassContext, task_id: str) -> ConsumeTask | None:
    """Poll the task until it finishes or the wait budget is used up. Other jobs are uploaded meanwhile."""
    async with context.pipeline.turn():
        until = min(context.clock.now() + TASK_WAIT, context.breaker.poll_until)
        for polls in count():
            try:
                task = await context.paperless.find_task(task_id)
            except OutcomeUnknown as error:
                raise TaskStatusUnknown(error.message) from None
            if task is None or task.is_done or not _may_poll(context, until):
                break
            async with context.pipeline.paused():
                await context.clock.sleep(_POLL_SECONDS[min(polls, len(_POLL_SECONDS) - 1)])
        return task


def _may_poll(context: PassContext, until: datetime) -> bool:
    return context.clock.now() < until and context.breaker.stopped_by is None


async def locate_unacknowledged(
    context: PassContext, job: VersionedSidecar, ids: DocumentObjectIds
) -> PaperlessDocument | None:
    """After an upload without a response, return its document, or record its task if it has one."""
    assert job.sidecar.file_name is not None
    if found := await _locate_document(context, job, ids):
        return found
    task = _preferred_task(await context.paperless.list_tasks_by_file_name(job.sidecar.file_name))
    if task is not None and await _can_wait_for(context, task):
        await job.record_task(task.task_id, context.clock.now())
    return None


async def _can_wait_for(context: PassContext, task: ConsumeTask) -> bool:
    """Return whether the task will finish. Without its Redis, version 2.x fails an upload and leaves a task that never
    runs. Uploading again is safe there, because 2.x rejects the same content the second time."""
    return task.is_done or (await context.paperless.version()).has_sha256


async def _locate_document(
    context: PassContext, job: VersionedSidecar, ids: DocumentObjectIds
) -> PaperlessDocument | None:
    # Search by tags again: the document may have appeared since the first check.
    if tagged := await find_tagged_copy(context, job.key, ids):
        return tagged
    found = await context.paperless.find_by_file_name(job.sidecar.file_name or job.key.sha256)
    for document in found:
        if await matches_sha256(context.paperless, document.id, job.key.sha256):
            return await adopt(context, document.id, ids)
    if found:
        raise different_content([document.id for document in found])
    context.trash.invalidate()
    return await find_trashed_copy(context, job, ids)


def _preferred_task(tasks: list[ConsumeTask]) -> ConsumeTask | None:
    """Return a task that succeeded or still may, otherwise the last one."""
    return min(tasks, key=lambda task: (task.failure is not None, -task.id), default=None)


@dataclass(frozen=True)
class AbandonedUpload:
    """An upload whose end was not seen."""

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
        """Parse a stored object. Return `None` if it is not an abandoned upload."""
        try:
            fields = json.loads(data)
            key = JobKey.parse(fields["r2Key"])
            at = datetime.fromisoformat(fields["givenUpAt"])
            return cls(key, str(fields["fileName"]), str(fields["taskId"]), at) if key else None
        except (ValueError, KeyError, TypeError):
            return None


async def record_abandoned(context: PassContext, job: VersionedSidecar) -> None:
    """Record an abandoned upload before its attempt is cleared from the sidecar."""
    assert job.sidecar.file_name is not None
    assert job.sidecar.task_id is not None
    abandoned = AbandonedUpload(job.key, job.sidecar.file_name, job.sidecar.task_id, context.clock.now())
    await context.stores.queue.put_if_absent(abandoned.object_key, abandoned.to_bytes(), content_type=JSON_CONTENT_TYPE)
