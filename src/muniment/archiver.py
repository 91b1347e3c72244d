"""Build and run the archiver process: one pass, or a pass every interval.

It has no database, and no other process has access to Paperless.
"""

import asyncio
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

from prometheus_client import start_http_server

from muniment.bootstrap.object_stores import build_archivers_stores
from muniment.embedded.child_process import watch as on_supervisor_exit
from muniment.handover.archiver.archiver import Archiver
from muniment.handover.archiver.archiver import watch as watch_queue
from muniment.handover.archiver.clock import Clock
from muniment.handover.archiver.monitoring import Alerts, AppriseNotifier
from muniment.handover.archiver.paperless_objects import Label
from muniment.handover.archiver.pass_context import Options, PassReport
from muniment.handover.internal.client import InternalApi
from muniment.handover.paperless.client import Paperless
from muniment.handover.paperless.transport import CloudflareAccess
from muniment.settings import Settings
from muniment.settings.handover import ArchiverSettings, Trashed
from muniment.settings.sources import SettingsError


def build_archiver(settings: Settings) -> Archiver:
    """`SettingsError` with what is missing."""
    own = settings.archiver
    paperless, api = _build_paperless(own), build_internal_api(settings)
    clock, stores = Clock(), build_archivers_stores(settings)
    alerts = Alerts(stores.queue, AppriseNotifier(own.alert_urls or ""), clock)
    return Archiver(stores, paperless, api, alerts, _options(own), Label(own.label), own.paperless_tag_ids, clock)


def build_internal_api(settings: Settings) -> InternalApi:
    keys = settings.archive.internal_api_keys
    if not keys:
        raise SettingsError("The archiver requires INTERNAL_API_KEY, with the same value as for the API")
    return InternalApi(settings.archiver.internal_api_url or settings.listening_url, keys[0])


def _build_paperless(own: ArchiverSettings) -> Paperless:
    if not own.paperless_url or own.paperless_api_token is None:
        raise SettingsError("The archiver requires PAPERLESS_URL and PAPERLESS_API_TOKEN")
    token = own.paperless_api_token.get_secret_value()
    return Paperless(own.paperless_url, token, access=_access(own), connections=own.concurrency + 2)


def _access(own: ArchiverSettings) -> CloudflareAccess | None:
    if (own.cf_access_client_id is None) != (own.cf_access_client_secret is None):
        raise SettingsError("CF_ACCESS_CLIENT_ID and CF_ACCESS_CLIENT_SECRET must be set together")
    if own.cf_access_client_id is None or own.cf_access_client_secret is None:
        return None
    return CloudflareAccess(own.cf_access_client_id, own.cf_access_client_secret.get_secret_value())


def _options(own: ArchiverSettings) -> Options:
    return Options(
        paperless_url=own.paperless_url or "",
        concurrency=own.concurrency,
        batch=own.batch,
        task_deadline=own.task_deadline,
        restores_trashed=own.trashed_copies is Trashed.RESTORE,
        follows_in_pass=own.interval,
    )


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
