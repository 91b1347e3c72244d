"""Build an archiver from settings and nothing else: its memory is measured."""

from muniment.handover.archiver.archiver import Archiver
from muniment.handover.archiver.clock import Clock
from muniment.handover.archiver.monitoring import Alerts, AppriseNotifier
from muniment.handover.archiver.pass_context import ArchiverOptions
from muniment.handover.internal.client import InternalApiClient
from muniment.handover.paperless.client import PaperlessClient
from muniment.handover.queue import HandoverStores

CONCURRENCY = 4


def build_archiver(stores: HandoverStores, paperless: str, token: str, api: str) -> Archiver:
    clock = Clock()
    alerts = Alerts(stores.queue, AppriseNotifier(""), clock)
    options = ArchiverOptions(paperless, concurrency=CONCURRENCY)
    return Archiver(
        stores, PaperlessClient(paperless, token), InternalApiClient(api, "key"), alerts, options, clock=clock
    )
