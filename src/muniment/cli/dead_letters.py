"""Implementation of `muniment archiver dlq …`, without access to the database."""

from collections.abc import AsyncIterator
from typing import Any

from rich.console import Console
from rich.table import Table

from muniment.archiver import build_internal_api
from muniment.bootstrap.object_stores import build_archiver_stores
from muniment.errors import Invalid
from muniment.handover.job_key import JobKey
from muniment.handover.queue_listing import DeadLetterNotFound, QueueEntryDetails, list_jobs, load_details
from muniment.settings import Settings


class InvalidJobKey(Invalid):
    """Not a job key. Use org/<organization>/<type>/<sha256>.pdf"""


async def iter_dead_letters(settings: Settings) -> AsyncIterator[QueueEntryDetails]:
    stores = build_archiver_stores(settings)
    try:
        async for job in list_jobs(stores.dead_letters):
            yield await load_details(stores.dead_letters, job)
    finally:
        await stores.close()


async def find_dead_letter(settings: Settings, key: str) -> QueueEntryDetails:
    wanted = parse_job_key(key)
    stores = build_archiver_stores(settings)
    try:
        async for job in list_jobs(stores.dead_letters, wanted.pdf.removesuffix(".pdf")):
            return await load_details(stores.dead_letters, job)
    finally:
        await stores.close()
    raise DeadLetterNotFound


async def requeue_dead_letter(settings: Settings, key: str) -> None:
    """Muniment decides, does it and writes it into the audit trail."""
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
    }


def print_dead_letters(dead_letters: list[QueueEntryDetails]) -> None:
    console = Console()
    if not dead_letters:
        console.print("No dead letters.")
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in ("since", "key", "why"):
        table.add_column(column, overflow="fold")
    for letter in dead_letters:
        why = letter.sidecar.last_error if letter.sidecar else letter.problem
        table.add_row(
            f"{letter.entry.last_modified_at:%Y-%m-%d %H:%M}", letter.entry.key.pdf, why or letter.problem or "–"
        )
    console.print(table)
