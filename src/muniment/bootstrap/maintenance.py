"""Build the services that delete, collect and reconcile, for the API, the worker and maintenance commands."""

from datetime import timedelta

from muniment.artifacts.garbage_collection import ArtifactGarbageCollector
from muniment.bootstrap.installation import build_sealer
from muniment.bootstrap.stores import Stores
from muniment.documents.failed_replacements import FailedReplacementSweep
from muniment.documents.staging import UploadSweep
from muniment.lifecycle.proof.deletion import TraceDeletion
from muniment.lifecycle.proof.inventory import StoreInventory
from muniment.lifecycle.proof.prover import PurgeProver, ReceiptSweep
from muniment.reconcile.objects import NO_READS, ReadSample
from muniment.reconcile.registry import ReconcileTools, build_runner
from muniment.reconcile.runner import ReconcileRunner
from muniment.settings import Settings


def build_purge_prover(settings: Settings, stores: Stores) -> PurgeProver:
    """Build the service that proves purges and signs their receipts."""
    return PurgeProver(
        stores.database,
        TraceDeletion(stores.database, stores.external_index, stores.ledger, stores.tasks),
        StoreInventory(stores.database, stores.objects, stores.external_index, stores.tasks),
        stores.locks,
        build_sealer(settings, stores),
    )


def build_garbage_collector(settings: Settings, stores: Stores) -> ArtifactGarbageCollector:
    grace = timedelta(days=settings.documents.artifact_grace_days)
    return ArtifactGarbageCollector(stores.database, stores.objects, stores.ledger, grace=grace)


def build_upload_sweep(settings: Settings, stores: Stores) -> UploadSweep:
    all_stores = [stores.objects, stores.handover.queue, stores.handover.dead_letters]
    return UploadSweep(stores.database, stores.ledger, all_stores, upload_lifetime=settings.documents.upload_lifetime)


def build_replacement_sweep(stores: Stores) -> FailedReplacementSweep:
    return FailedReplacementSweep(stores.database, stores.ledger)


def build_reconciliation(settings: Settings, stores: Stores, subset: ReadSample = NO_READS) -> ReconcileRunner:
    """Build the runner that compares all stores."""
    tools = ReconcileTools(
        stores.database,
        stores.objects,
        stores.ledger,
        stores.external_index,
        stores.locks,
        stores.tasks,
        sweep_uploads=build_upload_sweep(settings, stores).expire,
        sweep_replacements=build_replacement_sweep(stores).expire,
        sweep_receipts=ReceiptSweep(build_purge_prover(settings, stores)).prove_due,
        stalled_after=settings.worker.stalled_after,
        artifact_grace=timedelta(days=settings.documents.artifact_grace_days),
    )
    return build_runner(tools, sample=subset)
