"""Build the worker and its periodic tasks."""

from functools import partial
from typing import TYPE_CHECKING

from muniment.accounts.repository import delete_expired
from muniment.audit.service import AuditMaintenance
from muniment.bootstrap.database import service_address
from muniment.bootstrap.handover import build_document_handover
from muniment.bootstrap.installation import build_heads, build_sealer
from muniment.bootstrap.maintenance import (
    build_garbage_collector,
    build_purge_prover,
    build_reconciliation,
    build_upload_sweep,
)
from muniment.bootstrap.stores import Stores
from muniment.handover.dead_letters import DeadLetterSweep
from muniment.handover.sweep import HandoverSweep
from muniment.lifecycle.proof.prover import ReceiptSweep
from muniment.reconcile.runner import NightlyReconcile
from muniment.search.external_index.intent_sweep import IntentSweep
from muniment.settings import Settings
from muniment.storage.tasks.port import NIGHTLY, PeriodicTask, RunHandler

if TYPE_CHECKING:
    from muniment.storage.tasks.procrastinate.worker import ProcrastinateWorker


def build_worker(settings: Settings, stores: Stores, handler: RunHandler | None = None) -> "ProcrastinateWorker":
    from muniment.storage.tasks.procrastinate.worker import (
        ProcrastinateWorker,  # loads Procrastinate, which the API does without
    )

    sweeps, nightly = (
        build_upload_sweep(settings, stores),
        NightlyReconcile(stores.database, build_reconciliation(settings, stores)),
    )
    audit = AuditMaintenance(stores.database, build_sealer(settings, stores), build_heads(settings, stores))
    letters = DeadLetterSweep(stores.database, stores.handover, stores.objects)
    return ProcrastinateWorker(
        service_address(settings),
        handler=handler,
        periodic=[
            PeriodicTask("documents.sweep_uploads", "0 * * * * *", sweeps.run),
            PeriodicTask("deletions.carry_out", "*/10 * * * * *", sweeps.process_ledger),
            PeriodicTask("artifacts.collect", "45 37 * * * *", build_garbage_collector(settings, stores).sweep),
            PeriodicTask("index.put_right", "*/5 * * * * *", IntentSweep(stores.database, stores.vectors).sweep),
            PeriodicTask(
                "archive.hand_over", "*/10 * * * * *", HandoverSweep(build_document_handover(settings, stores)).sweep
            ),
            PeriodicTask("archive.expire", "15 */2 * * * *", letters.expire),
            PeriodicTask("archive.remind", "25 41 5 * * *", letters.remind),
            PeriodicTask("receipts.finish", "*/10 * * * * *", ReceiptSweep(build_purge_prover(settings, stores)).run),
            PeriodicTask("audit.seal", "*/10 * * * * *", audit.seal),
            PeriodicTask("audit.sign", "20 * * * * *", audit.sign),
            PeriodicTask("accounts.forget_expired", "30 7 * * * *", partial(delete_expired, stores.database)),
            PeriodicTask("reconcile.look", "0 23 3 * * *", nightly.run, NIGHTLY),
            PeriodicTask("reconcile.publish", "50 * * * * *", nightly.update_gauge),
        ],
        concurrency=settings.worker.concurrency,
        heartbeat=settings.worker.heartbeat,
        stalled_after=settings.worker.stalled_after,
    )
