"""An archiver as the settings would build it, and nothing besides: its memory is measured."""

from muniment.archival.archiver.alerts import Alerts
from muniment.archival.archiver.apprise_notifier import AppriseNotifier
from muniment.archival.archiver.clock import Clock
from muniment.archival.archiver.run import Archiver
from muniment.archival.archiver.tools import Options
from muniment.archival.internal_client import InternalApi
from muniment.archival.paperless.client import Paperless
from muniment.archival.stores import ArchiveStores

CONCURRENCY = 4


def build(stores: ArchiveStores, paperless: str, token: str, api: str) -> Archiver:
    clock = Clock()
    alerts = Alerts(stores.queue, AppriseNotifier(""), clock)
    options = Options(paperless, concurrency=CONCURRENCY)
    return Archiver(stores, Paperless(paperless, token), InternalApi(api, "key"), alerts, options, clock=clock)
