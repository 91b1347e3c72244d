"""Whether what failed counts against the job: only when it is the job (specs/archive-queue.md §8.2, §10.3)."""

from dataclasses import dataclass
from datetime import timedelta

from muniment.archival.archiver.dead_letters import bury
from muniment.archival.archiver.lines import JobLine
from muniment.archival.archiver.notes import Changed, Noted
from muniment.archival.archiver.outcomes import Failed
from muniment.archival.archiver.reconciliation import MAX_RETRIES
from muniment.archival.archiver.tools import Tools
from muniment.archival.internal_client import NotDone, Said, UnknownOrganization
from muniment.archival.keys import JobKey
from muniment.archival.sidecar import InvalidSidecar
from muniment.storage.blobs.port import BlobNotFound

ALONE_AGAIN_AFTER = timedelta(days=1)


@dataclass(frozen=True)
class Failure:
    key: JobKey
    error: Failed


async def settle(tools: Tools, failure: Failure, *, depth: int) -> JobLine | None:
    """At the end of a pass, when it is known what became of the others. The line if it is a dead letter now."""
    try:
        noted = await Noted.read(tools.stores.queue, failure.key)
        counts = _counts(tools, failure, noted, depth)
        error = failure.error
        await tools.lease.check()
        await noted.failed(error.message, counts=counts, now=tools.clock.now(), forgets_attempt=error.forgets_attempt)
    except (BlobNotFound, InvalidSidecar, Changed):
        return None  # somebody else has it; the next pass sees
    if noted.sidecar.retry_count >= MAX_RETRIES:
        sidecar = await bury(tools, failure.key, error.message)
        return JobLine(failure.key, "dead_letter", sidecar, error=error.message)
    await _report_pending(tools, noted)
    return None


def _counts(tools: Tools, failure: Failure, noted: Noted, depth: int) -> bool:
    if failure.error.is_certain or tools.pace.has_accepted_others(failure.key):
        return True
    if depth > 1:
        return False
    # Alone there are no others to compare with: then time decides.
    last = noted.sidecar.last_attempt_at
    return last is None or tools.clock.now() - last >= ALONE_AGAIN_AFTER


async def _report_pending(tools: Tools, noted: Noted) -> None:
    sidecar = noted.sidecar
    said = Said("pending", retry_count=sidecar.retry_count, last_error=sidecar.last_error)
    try:
        await tools.api.say(sidecar.bilko_document_id, noted.key, said)
    except (UnknownOrganization, NotDone):
        return  # said again when it is a dead letter, or when it is archived
