"""End of a pass: resolve incomplete jobs and abandoned uploads.

A sidecar without its PDF may belong to an archived document whose archiver died between its two deletes. An abandoned
upload may still reach Paperless days later and duplicate the verified document.
"""

from datetime import timedelta
from random import Random

from muniment.handover.archiver.completion import archived, has_bytes, remove
from muniment.handover.archiver.dead_letters import bury
from muniment.handover.archiver.existing_copies import put_away_double
from muniment.handover.archiver.job import take
from muniment.handover.archiver.job_state import Dead, Left, Noted
from muniment.handover.archiver.monitoring import JobLine
from muniment.handover.archiver.pass_context import Tools
from muniment.handover.archiver.upload import PREFIX, Late
from muniment.handover.queue_listing import ListedJob
from muniment.storage.objects.port import BlobNotFound, QueueStore

REPORTED_AFTER = timedelta(hours=1)


BURIED_AFTER = timedelta(days=7)


async def resolve_incomplete(tools: Tools, half: ListedJob) -> JobLine | None:
    """Close it if it is archived, report it after an hour, bury it after a week. Nothing while it may become whole."""
    if half.pdf is None and (line := await _close_archived(tools, half)):
        return line
    if not await _is_half(tools, half):
        return None
    age = tools.clock.now() - half.since
    missing = "PDF" if half.pdf is None else "sidecar"
    if age >= BURIED_AFTER:
        reason = f"The {missing} has been missing for {age.days} days"
        return JobLine(half.key, "dead_letter", await bury(tools, half.key, reason), error=reason)
    if age >= REPORTED_AFTER:
        return JobLine(half.key, "orphan", error=f"The {missing} is missing")
    return None


async def _is_half(tools: Tools, half: ListedJob) -> bool:
    """Still: since it was listed somebody may have ended it, or added the rest."""
    queue, key = tools.stores.queue, half.key
    return await queue.exists(key.pdf) != await queue.exists(key.sidecar)


async def _close_archived(tools: Tools, half: ListedJob) -> JobLine | None:
    try:
        noted = await take(tools, half.key)
    except (Dead, Left):
        return None
    document_id = await _find_archived(tools, noted)
    if document_id is None or await tools.stores.queue.exists(half.key.pdf):
        return None
    await tools.api.say(noted.sidecar.bilko_document_id, noted.key, archived(tools, noted, document_id))
    await remove(tools, noted.key)
    return JobLine(half.key, "closed", noted.sidecar, paperless_doc_id=document_id)


async def _find_archived(tools: Tools, noted: Noted) -> int | None:
    """In Paperless, with our tags and these bytes."""
    tags = await tools.objects.find_telling_tags(noted.key.organization_id, noted.key.sha256)
    found = [] if tags is None else await tools.paperless.find_tagged(tags)
    for document in found:
        if await has_bytes(tools.paperless, document.id, noted.key.sha256):
            return document.id
    return None


WATCHED_FOR = timedelta(days=30)


LOOKS_IN_PASS = 50
"""After an upgrade, which drops the history of tasks, there may be thousands of notes: each has its turn."""


async def list_late(queue: QueueStore, random: Random) -> list[str]:
    """The notes to look at in this pass: any, if there are too many of them."""
    notes = [info.key async for info in queue.list(PREFIX)]
    return random.sample(notes, LOOKS_IN_PASS) if len(notes) > LOOKS_IN_PASS else notes


async def resolve_abandoned(tools: Tools, note: str) -> None:
    """Put away what arrived after all, behind the one that was proven; forget what will not arrive any more."""
    queue = tools.stores.queue
    try:
        late = Late.read((await queue.get(note)).data)
    except BlobNotFound:
        return
    if late is not None and await queue.exists(late.key.sidecar):
        return  # the job itself looks for it
    if late is None or await _has_ended(tools, late):
        await queue.delete(note)


async def _has_ended(tools: Tools, late: Late) -> bool:
    # In this order: the document becomes visible before its task is done.
    task = await tools.paperless.task(late.task_id)
    tags = await tools.objects.find_telling_tags(late.key.organization_id, late.key.sha256)
    arrived = await tools.paperless.find_by_file_name(late.file_name)
    for document in arrived if tags else ():
        await tools.lease.check()
        await put_away_double(tools, late.key, tags or frozenset(), document.id)
    is_over = tools.clock.now() - late.given_up_at > WATCHED_FOR
    return bool(arrived) or is_over or (task is not None and task.is_done)
