"""Build the worker and its periodic tasks."""

from collections.abc import Sequence
from functools import partial

from muniment.accounts.repository import delete_expired
from muniment.audit.service import AuditMaintenance
from muniment.bootstrap.database import service_address
from muniment.bootstrap.handover import build_document_handover
from muniment.bootstrap.installation import build_heads, build_sealer
from muniment.bootstrap.maintenance import (
    build_garbage_collector,
    build_purge_prover,
    build_reconciliation,
    build_replacement_sweep,
    build_upload_sweep,
)
from muniment.bootstrap.processing import build_embedders
from muniment.bootstrap.stores import Stores
from muniment.bootstrap.tasks import build_task_engine
from muniment.handover.dead_letters import DeadLetterSweep
from muniment.handover.sweep import HandoverSweep
from muniment.lifecycle.proof.prover import ReceiptSweep
from muniment.reconcile.runner import NightlyReconcile
from muniment.search.external_index.intent_sweep import IntentSweep
from muniment.search.indexing.backlog import EmbeddingBacklogSweep
from muniment.search.indexing.calibration_sweep import CalibrationSweep
from muniment.search.indexing.lexical_rebuild import LexicalRebuild
from muniment.search.indexing.partial_vectors import delete_abandoned_vectors
from muniment.search.indexing.vector_move import VectorMove
from muniment.settings import Settings
from muniment.storage.deletions.sweep import LedgerSweep
from muniment.storage.tasks.port import NIGHTLY, JobHandlers, PeriodicTask, TaskWorker
from muniment.storage.tasks.worker_registry import WorkerRegistry


def build_worker(settings: Settings, stores: Stores, handlers: JobHandlers | None = None) -> TaskWorker:
    """Build the worker with its periodic tasks. Without handlers it reads no documents."""
    return build_task_engine().build_worker(
        service_address(settings),
        handlers=handlers,
        periodic=build_periodic_tasks(settings, stores),
        concurrency=settings.worker.concurrency,
        heartbeat=settings.worker.heartbeat,
        stalled_after=settings.worker.stalled_after,
    )


def build_worker_registry(settings: Settings, stores: Stores) -> WorkerRegistry:
    """Build the entry of this process in the registry of workers."""
    timing = settings.worker
    return WorkerRegistry(stores.database, heartbeat=timing.heartbeat, stalled_after=timing.stalled_after)


def build_periodic_tasks(settings: Settings, stores: Stores) -> Sequence[PeriodicTask]:
    """Build all sweeps with the times at which they run."""
    nightly = NightlyReconcile(stores.database, build_reconciliation(settings, stores))
    audit = AuditMaintenance(stores.database, build_sealer(settings, stores), build_heads(settings, stores))
    dead_letters = DeadLetterSweep(stores.database, stores.handover, stores.objects)
    handovers = HandoverSweep(build_document_handover(settings, stores))
    calibration = CalibrationSweep(stores.database, partial(build_embedders, settings))
    return [
        PeriodicTask("documents.sweep_uploads", "0 * * * * *", build_upload_sweep(settings, stores).run),
        PeriodicTask("documents.expire_replacements", "10 17 * * * *", build_replacement_sweep(stores).run),
        PeriodicTask("deletions.carry_out", "*/10 * * * * *", LedgerSweep(stores.database, stores.ledger).run),
        PeriodicTask("artifacts.collect", "45 37 * * * *", build_garbage_collector(settings, stores).sweep),
        PeriodicTask("index.put_right", "*/5 * * * * *", IntentSweep(stores.database, stores.external_index).sweep),
        PeriodicTask("index.embedding_backlog", "*/15 * * * * *", EmbeddingBacklogSweep(stores.database).sweep),
        PeriodicTask("index.move_vectors", "30 * * * * *", VectorMove(stores.database).run, NIGHTLY),
        PeriodicTask("index.rebuild_terms", "20 * * * * *", LexicalRebuild(stores.database).run, NIGHTLY),
        PeriodicTask("index.forget_partial", "40 47 * * * *", partial(delete_abandoned_vectors, stores.database)),
        PeriodicTask("index.calibrate", "25 * * * * *", calibration.run),
        PeriodicTask("archive.hand_over", "*/10 * * * * *", handovers.sweep),
        PeriodicTask("archive.expire", "15 */2 * * * *", dead_letters.expire),
        PeriodicTask("archive.remind", "25 41 5 * * *", dead_letters.remind),
        PeriodicTask("receipts.finish", "*/10 * * * * *", ReceiptSweep(build_purge_prover(settings, stores)).run),
        PeriodicTask("audit.seal", "*/10 * * * * *", audit.seal),
        PeriodicTask("audit.sign", "20 * * * * *", audit.sign),
        PeriodicTask("accounts.forget_expired", "30 7 * * * *", partial(delete_expired, stores.database)),
        PeriodicTask("reconcile.look", "0 23 3 * * *", nightly.run, NIGHTLY),
        PeriodicTask("reconcile.publish", "50 * * * * *", nightly.update_gauge),
    ]
