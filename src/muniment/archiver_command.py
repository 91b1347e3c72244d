"""`muniment archiver …`: one pass, many passes, the setting up, and the dead letters. No database anywhere."""

import asyncio
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from prometheus_client import start_http_server
from rich.console import Console
from rich.table import Table

from muniment.archival.archiver.report import PassReport
from muniment.archival.archiver.run import Archiver
from muniment.archival.archiver.watch import watch as watch_queue
from muniment.archival.dead_letters.jobs import DescribedJob, describe, list_jobs
from muniment.archival.keys import JobKey
from muniment.archive_stores import build_archivers_stores
from muniment.archiver_bootstrap import build_archiver, build_internal_api
from muniment.embedded.lifeline import watch as on_supervisor_exit
from muniment.errors import Invalid, NotFound
from muniment.settings import Settings


class NotAJob(Invalid):
    """That is not the key of a job: org/<organization>/<type>/<sha256>.pdf"""


class NoSuchLetter(NotFound):
    """There is no such dead letter"""


async def run(settings: Settings) -> PassReport:
    """One pass. Its metrics go into the file that the settings name, else into the log."""
    file = settings.archiver.metrics_file
    async with _open_archiver(settings) as archiver:
        if file:
            archiver.metrics.continue_from(file)
        report = await archiver.run()
        _show_metrics(archiver, file)
        return report


async def watch(settings: Settings) -> None:
    """Until SIGTERM, SIGINT, or until the supervisor is gone. What is in hand is taken up again by the next."""
    working = asyncio.create_task(_watch(settings))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, working.cancel)
    on_supervisor_exit(partial(loop.call_soon_threadsafe, working.cancel))
    with suppress(asyncio.CancelledError):
        await working


async def set_up(settings: Settings) -> Mapping[str, int]:
    """Find or make everything in Paperless that belongs to no organization; ids by name."""
    async with _open_archiver(settings) as archiver:
        await archiver.paperless.version()
        return await archiver.objects().set_up()


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
        console.print("There are no dead letters.")
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in ("since", "key", "why"):
        table.add_column(column, overflow="fold")
    for letter in letters:
        why = letter.sidecar.last_error if letter.sidecar else letter.problem
        table.add_row(f"{letter.job.since:%Y-%m-%d %H:%M}", letter.job.key.pdf, why or letter.problem or "–")
    console.print(table)


async def _watch(settings: Settings) -> None:
    async with _open_archiver(settings) as archiver:
        port = settings.archiver.metrics_port
        if port:
            start_http_server(port, addr="127.0.0.1", registry=archiver.metrics.registry)
        await watch_queue(archiver, settings.archiver.interval)


def _show_metrics(archiver: Archiver, file: Path | None) -> None:
    archiver.metrics.write(file) if file else archiver.metrics.log()


@asynccontextmanager
async def _open_archiver(settings: Settings) -> AsyncIterator[Archiver]:
    archiver = build_archiver(settings)
    try:
        yield archiver
    finally:
        await archiver.close()
