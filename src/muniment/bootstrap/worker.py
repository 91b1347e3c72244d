"""Build the worker and its periodic tasks."""

from functools import partial
from typing import TYPE_CHECKING

from muniment.accounts.repository import forget_expired
from muniment.audit.service import AuditSweeps
from muniment.bootstrap.database import service_address
from muniment.bootstrap.handover import build_own_documents
from muniment.bootstrap.installation import build_heads, build_sealer
from muniment.bootstrap.maintenance import build_collection, build_finishing, build_reconciliation, build_sweeps
from muniment.bootstrap.stores import Stores
from muniment.handover.dead_letters import DeadLetterSweep
from muniment.handover.sweep import HandOverSweep
from muniment.lifecycle.proof.prover import ReceiptSweep
from muniment.reconcile.runner import Nightly
from muniment.search.external_index.intent_sweep import IntentSweep
from muniment.settings import Settings
from muniment.storage.tasks.port import NIGHTLY, Periodic, Process

if TYPE_CHECKING:
    from muniment.storage.tasks.procrastinate.worker import Worker


def build_worker(settings: Settings, stores: Stores, process: Process | None = None) -> "Worker":
    from muniment.storage.tasks.procrastinate.worker import Worker  # loads Procrastinate, which the API does without

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
