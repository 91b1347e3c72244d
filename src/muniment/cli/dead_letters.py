"""List, requeue and discard dead letters without access to the database, for `muniment archiver dlq …`."""

from typing import Any

from muniment.archiver import build_internal_api
from muniment.bootstrap.object_stores import build_archiver_stores
from muniment.errors import Invalid
from muniment.handover.job_key import PDF_SUFFIX, PREFIX, JobKey
from muniment.handover.queue_listing import NO_REASON, DeadLetterNotFound, QueueEntryDetails, list_jobs, load_details
from muniment.settings import Settings


class InvalidJobKey(Invalid):
    """Not a job key. Use org/<organization>/<type>/<sha256>.pdf"""


async def load_dead_letters(settings: Settings, prefix: str = PREFIX) -> list[QueueEntryDetails]:
    """Return the dead letters whose key has this prefix."""
    stores = build_archiver_stores(settings)
    try:
        return [await load_details(stores.dead_letters, job) async for job in list_jobs(stores.dead_letters, prefix)]
    finally:
        await stores.close()


async def get_dead_letter(settings: Settings, key: str) -> QueueEntryDetails:
    """Return one dead letter, or raise `DeadLetterNotFound`."""
    job = parse_job_key(key)
    for dead_letter in await load_dead_letters(settings, job.pdf.removesuffix(PDF_SUFFIX)):
        return dead_letter
    raise DeadLetterNotFound


async def requeue_dead_letter(settings: Settings, key: str) -> None:
    """Requeue a dead letter through the internal API, which records it in the audit trail."""
    async with build_internal_api(settings) as api:
        await api.requeue(parse_job_key(key))


async def requeue_failed_handovers(settings: Settings) -> int:
    async with build_internal_api(settings) as api:
        return await api.requeue_failed()


async def discard_dead_letter(settings: Settings, key: str) -> None:
    async with build_internal_api(settings) as api:
        await api.discard(parse_job_key(key))


def parse_job_key(key: str) -> JobKey:
    job = JobKey.parse(key)
    if job is None:
        raise InvalidJobKey
    return job


def dead_letter_json(details: QueueEntryDetails) -> dict[str, Any]:
    job, sidecar = details.entry, details.sidecar
    return {
        "key": job.key.pdf,
        "since": job.last_modified_at.isoformat(),
        "size_bytes": job.pdf.size_bytes if job.pdf else None,
        "document_id": str(sidecar.bilko_document_id) if sidecar else None,
        "retry_count": sidecar.retry_count if sidecar else None,
        "last_error": sidecar.last_error if sidecar else None,
        "problem": details.problem,
        "reason": details.reason or NO_REASON,
    }


def print_dead_letters(dead_letters: list[QueueEntryDetails]) -> None:
    """Print one line per dead letter. A long line is not wrapped, so that its key can be copied."""
    if not dead_letters:
        print("No dead letters.")
        return
    width = max(len(dead_letter.entry.key.pdf) for dead_letter in dead_letters)
    print(f"{'since':<16}  {'key':<{width}}  why")
    for dead_letter in dead_letters:
        entry = dead_letter.entry
        print(f"{entry.last_modified_at:%Y-%m-%d %H:%M}  {entry.key.pdf:<{width}}  {dead_letter.reason or NO_REASON}")
