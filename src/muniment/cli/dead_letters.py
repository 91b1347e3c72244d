"""Implementation of `muniment archiver dlq …`, without access to the database."""

from collections.abc import AsyncIterator
from typing import Any

from rich.console import Console
from rich.table import Table

from muniment.archiver import build_internal_api
from muniment.bootstrap.object_stores import build_archivers_stores
from muniment.errors import Invalid, NotFound
from muniment.handover.job_key import JobKey
from muniment.handover.queue_listing import DescribedJob, describe, list_jobs
from muniment.settings import Settings


class NotAJob(Invalid):
    """Not a job key. Use org/<organization>/<type>/<sha256>.pdf"""


class NoSuchLetter(NotFound):
    """Dead letter not found"""


async def list_letters(settings: Settings) -> AsyncIterator[DescribedJob]:
    stores = build_archivers_stores(settings)
    try:
        async for job in list_jobs(stores.dead_letters):
            yield await describe(stores.dead_letters, job)
    finally:
        await stores.close()


async def find_letter(settings: Settings, key: str) -> DescribedJob:
    wanted = parse_key(key)
    stores = build_archivers_stores(settings)
    try:
        async for job in list_jobs(stores.dead_letters, wanted.pdf.removesuffix(".pdf")):
            return await describe(stores.dead_letters, job)
    finally:
        await stores.close()
    raise NoSuchLetter


async def requeue(settings: Settings, key: str) -> None:
    """Muniment decides, does it and writes it into the audit trail."""
    async with build_internal_api(settings) as api:
        await api.requeue(parse_key(key))


async def requeue_failed(settings: Settings) -> int:
    async with build_internal_api(settings) as api:
        return await api.requeue_failed()


async def discard(settings: Settings, key: str) -> None:
    async with build_internal_api(settings) as api:
        await api.discard(parse_key(key))


def parse_key(key: str) -> JobKey:
    job = JobKey.parse(key)
    if job is None:
        raise NotAJob
    return job


def letter_facts(letter: DescribedJob) -> dict[str, Any]:
    job, sidecar = letter.job, letter.sidecar
    return {
        "key": job.key.pdf,
        "since": job.since.isoformat(),
        "size_bytes": job.pdf.size_bytes if job.pdf else None,
        "document_id": str(sidecar.bilko_document_id) if sidecar else None,
        "retry_count": sidecar.retry_count if sidecar else None,
        "last_error": sidecar.last_error if sidecar else None,
        "problem": letter.problem,
    }


def show_letters(letters: list[DescribedJob]) -> None:
    console = Console()
    if not letters:
        console.print("No dead letters.")
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in ("since", "key", "why"):
        table.add_column(column, overflow="fold")
    for letter in letters:
        why = letter.sidecar.last_error if letter.sidecar else letter.problem
        table.add_row(f"{letter.job.since:%Y-%m-%d %H:%M}", letter.job.key.pdf, why or letter.problem or "–")
    console.print(table)
