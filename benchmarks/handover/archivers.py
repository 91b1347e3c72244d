"""Build an archiver as the settings would, and nothing else: its memory is measured."""

from muniment.handover.archiver.archiver import Archiver
from muniment.handover.archiver.clock import Clock
from muniment.handover.archiver.monitoring import Alerts, AppriseNotifier
from muniment.handover.archiver.pass_context import Options
from muniment.handover.internal.client import InternalApi
from muniment.handover.paperless.client import Paperless
from muniment.handover.queue import ArchiveStores

CONCURRENCY = 4


def build(stores: ArchiveStores, paperless: str, token: str, api: str) -> Archiver:
    clock = Clock()
    alerts = Alerts(stores.queue, AppriseNotifier(""), clock)
    options = Options(paperless, concurrency=CONCURRENCY)
    return Archiver(stores, Paperless(paperless, token), InternalApi(api, "key"), alerts, options, clock=clock)
