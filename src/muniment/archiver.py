"""Build and run the archiver process: one pass, or a pass every interval.

It has no database, and no other process has access to Paperless.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from prometheus_client import start_http_server

from muniment.bootstrap.object_stores import build_archiver_stores
from muniment.bootstrap.process import run_until_stopped
from muniment.handover.archiver.archiver import Archiver
from muniment.handover.archiver.clock import Clock
from muniment.handover.archiver.monitoring import Alerts, AppriseNotifier
from muniment.handover.archiver.paperless_objects import NamePrefix
from muniment.handover.archiver.pass_context import ArchiverOptions, PassReport
from muniment.handover.description import DocumentDescription
from muniment.handover.internal.client import InternalApiClient
from muniment.handover.paperless.client import PaperlessClient
from muniment.handover.paperless.transport import CloudflareAccess
from muniment.settings import Settings
from muniment.settings.handover import ArchiverSettings, TrashedCopyAction
from muniment.settings.sources import SettingsError


def build_archiver(settings: Settings) -> Archiver:
    """Build the archiver. Raise `SettingsError` if a setting is missing."""
    options = settings.archiver
    paperless, api = build_paperless(options), build_internal_api(settings)
    clock, stores = Clock(), build_archiver_stores(settings)
    alerts = Alerts(stores.queue, AppriseNotifier(options.alert_urls or ""), clock)
    return Archiver(
        stores,
        paperless,
        api,
        alerts,
        _build_options(options),
        NamePrefix(options.label),
        options.paperless_tag_ids,
        DocumentDescription(options.paperless_title, options.paperless_custom_fields),
        clock,
    )


def build_internal_api(settings: Settings) -> InternalApiClient:
    keys = settings.archive.internal_api_keys
    if not keys:
        raise SettingsError("The archiver requires INTERNAL_API_KEY, with the same value as for the API")
    return InternalApiClient(settings.archiver.internal_api_url or settings.listening_url, keys[0])


def build_paperless(settings: ArchiverSettings) -> PaperlessClient:
    if not settings.paperless_url or settings.paperless_api_token is None:
        raise SettingsError("The archiver requires PAPERLESS_URL and PAPERLESS_API_TOKEN")
    token = settings.paperless_api_token.get_secret_value()
    return PaperlessClient(
        settings.paperless_url, token, access=_build_cloudflare_access(settings), connections=settings.concurrency + 2
    )


def _build_cloudflare_access(settings: ArchiverSettings) -> CloudflareAccess | None:
    if (settings.cf_access_client_id is None) != (settings.cf_access_client_secret is None):
        raise SettingsError("CF_ACCESS_CLIENT_ID and CF_ACCESS_CLIENT_SECRET must be set together")
    if settings.cf_access_client_id is None or settings.cf_access_client_secret is None:
        return None
    return CloudflareAccess(settings.cf_access_client_id, settings.cf_access_client_secret.get_secret_value())


def _build_options(settings: ArchiverSettings) -> ArchiverOptions:
    return ArchiverOptions(
        paperless_url=settings.paperless_url or "",
        concurrency=settings.concurrency,
        uploads_ahead=settings.uploads_ahead,
        batch_size=settings.batch,
        task_deadline=settings.task_deadline,
        restore_trashed=settings.trashed_copies is TrashedCopyAction.RESTORE,
        task_wait_budget=settings.interval,
    )


async def run(settings: Settings) -> PassReport:
    """Run one pass. Its metrics go to the file that the settings name, otherwise to the log."""
    file = settings.archiver.metrics_file
    async with _open_archiver(settings) as archiver:
        if file:
            archiver.metrics.restore(file)
        report = await archiver.run()
        _export_metrics(archiver, file)
        return report


async def run_forever(settings: Settings) -> None:
    """Run a pass every interval until SIGTERM, SIGINT or the end of the supervisor. The next start resumes its jobs."""
    await run_until_stopped(_run_passes(settings))


async def set_up(settings: Settings) -> Mapping[str, int]:
    """Create the objects in Paperless that are shared by all organizations, and return their ids by name."""
    async with _open_archiver(settings) as archiver:
        await archiver.paperless.check_access()
        return await archiver.build_objects().ensure_shared_objects()


async def _run_passes(settings: Settings) -> None:
    async with _open_archiver(settings) as archiver:
        port = settings.archiver.metrics_port
        if port:
            start_http_server(port, addr="127.0.0.1", registry=archiver.metrics.registry)
        await archiver.run_forever(settings.archiver.interval)


def _export_metrics(archiver: Archiver, file: Path | None) -> None:
    archiver.metrics.write_textfile(file) if file else archiver.metrics.log_values()


@asynccontextmanager
async def _open_archiver(settings: Settings) -> AsyncIterator[Archiver]:
    archiver = build_archiver(settings)
    try:
        yield archiver
    finally:
        await archiver.close()
