"""The worker and its calendar."""

from functools import partial
from typing import TYPE_CHECKING

from muniment.accounts.sweeps import forget_expired
from muniment.archival.dead_letters.expiry import DeadLetterSweep
from muniment.archival.sweeps import HandOverSweep
from muniment.audit.sweeps import AuditSweeps
from muniment.bootstrap.archiving import build_own_documents
from muniment.bootstrap.auditing import build_heads, build_sealer
from muniment.bootstrap.removal import build_collection, build_finishing, build_reconciliation, build_sweeps
from muniment.bootstrap.stores import Stores, service_address
from muniment.lifecycle.removal.sweep import ReceiptSweep
from muniment.reconcile.nightly import Nightly
from muniment.search.intents import IntentSweep
from muniment.settings import Settings
from muniment.storage.tasks.port import NIGHTLY, Periodic, Process

if TYPE_CHECKING:
    from muniment.storage.tasks.worker import Worker


def build_worker(settings: Settings, stores: Stores, process: Process | None = None) -> "Worker":
    from muniment.storage.tasks.worker import Worker  # loads Procrastinate, which the API does without

    sweeps, nightly = build_sweeps(settings, stores), Nightly(stores.database, build_reconciliation(settings, stores))
    audit = AuditSweeps(stores.database, build_sealer(settings, stores), build_heads(settings, stores))
    letters = DeadLetterSweep(stores.database, stores.archive, stores.blobs)
    return Worker(
        service_address(settings),
        process=process,
        periodic=[
            Periodic("documents.sweep_uploads", "0 * * * * *", sweeps.uploads),
            Periodic("deletions.carry_out", "*/10 * * * * *", sweeps.deletions),
            Periodic("artifacts.collect", "45 37 * * * *", build_collection(settings, stores).sweep),
            Periodic("index.put_right", "*/5 * * * * *", IntentSweep(stores.database, stores.index).sweep),
            Periodic("archive.hand_over", "*/10 * * * * *", HandOverSweep(build_own_documents(settings, stores)).sweep),
            Periodic("archive.expire", "15 */2 * * * *", letters.expire),
            Periodic("archive.remind", "25 41 5 * * *", letters.remind),
            Periodic("receipts.finish", "*/10 * * * * *", ReceiptSweep(build_finishing(settings, stores)).sweep),
            Periodic("audit.seal", "*/10 * * * * *", audit.seal),
            Periodic("audit.sign", "20 * * * * *", audit.sign),
            Periodic("accounts.forget_expired", "30 7 * * * *", partial(forget_expired, stores.database)),
            Periodic("reconcile.look", "0 23 3 * * *", nightly.look, NIGHTLY),
            Periodic("reconcile.publish", "50 * * * * *", nightly.publish),
        ],
        concurrency=settings.worker.concurrency,
        heartbeat=settings.worker.heartbeat,
        stalled_after=settings.worker.stalled_after,
    )
