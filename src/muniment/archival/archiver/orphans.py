"""Halves of jobs: a sidecar without its PDF may be an archived one, between the two deletes of whoever died there."""

from datetime import timedelta

from muniment.archival.archiver.closing import archived, remove
from muniment.archival.archiver.dead_letters import bury
from muniment.archival.archiver.job import take
from muniment.archival.archiver.lines import JobLine
from muniment.archival.archiver.notes import Noted
from muniment.archival.archiver.outcomes import Dead, Left
from muniment.archival.archiver.proof import has_bytes
from muniment.archival.archiver.tools import Tools
from muniment.archival.dead_letters.jobs import ListedJob

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
