"""What the archiver is made of, from the settings. It has no database, and nothing else has a way to Paperless."""

from muniment.archival.archiver.alerts import Alerts
from muniment.archival.archiver.apprise_notifier import AppriseNotifier
from muniment.archival.archiver.clock import Clock
from muniment.archival.archiver.names import Label
from muniment.archival.archiver.run import Archiver
from muniment.archival.archiver.tools import Options
from muniment.archival.internal_client import InternalApi
from muniment.archival.paperless.client import Paperless
from muniment.archival.paperless.connection import CloudflareAccess
from muniment.archive_settings import ArchiverSettings, Trashed
from muniment.archive_stores import build_archivers_stores
from muniment.setting_sources import SettingsError
from muniment.settings import Settings


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
        raise SettingsError("The archiver needs INTERNAL_API_KEY, the same as the API has")
    return InternalApi(settings.archiver.internal_api_url or settings.listening_url, keys[0])


def _build_paperless(own: ArchiverSettings) -> Paperless:
    if not own.paperless_url or own.paperless_api_token is None:
        raise SettingsError("The archiver needs PAPERLESS_URL and PAPERLESS_API_TOKEN")
    token = own.paperless_api_token.get_secret_value()
    return Paperless(own.paperless_url, token, access=_access(own), connections=own.concurrency + 2)


def _access(own: ArchiverSettings) -> CloudflareAccess | None:
    if (own.cf_access_client_id is None) != (own.cf_access_client_secret is None):
        raise SettingsError("CF_ACCESS_CLIENT_ID and CF_ACCESS_CLIENT_SECRET belong together")
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
