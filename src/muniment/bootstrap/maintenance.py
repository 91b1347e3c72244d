"""Build what deletes, collects and reconciles: used by the API, the worker and the maintenance commands."""

from datetime import timedelta

from muniment.artifacts.garbage_collection import Collection
from muniment.bootstrap.installation import build_sealer
from muniment.bootstrap.stores import Stores
from muniment.documents.staging import Sweeps
from muniment.lifecycle.proof.deletion import Erasing
from muniment.lifecycle.proof.inventory import SecondLook
from muniment.lifecycle.proof.prover import Finishing, ReceiptSweep
from muniment.reconcile.objects import NOTHING, Subset
from muniment.reconcile.registry import Means as Compared
from muniment.reconcile.registry import reconciliation
from muniment.reconcile.runner import Reconciliation
from muniment.settings import Settings
from muniment.storage.tasks.procrastinate.queue import QueuedTasks


def build_finishing(settings: Settings, stores: Stores) -> Finishing:
    """What proves that documents are gone, and signs that they are."""
    tasks = QueuedTasks()
    return Finishing(
        stores.database,
        Erasing(stores.database, stores.index, stores.ledger, tasks),
        SecondLook(stores.database, stores.blobs, stores.index, tasks),
        stores.locks,
        build_sealer(settings, stores),
    )


def build_collection(settings: Settings, stores: Stores) -> Collection:
    grace = timedelta(days=settings.documents.artifact_grace_days)
    return Collection(stores.database, stores.blobs, stores.ledger, grace=grace)


def build_sweeps(settings: Settings, stores: Stores) -> Sweeps:
    return Sweeps(stores.database, stores.blobs, stores.ledger, upload_lifetime=settings.documents.upload_lifetime)


def build_reconciliation(settings: Settings, stores: Stores, subset: Subset = NOTHING) -> Reconciliation:
    """What compares the stores with each other."""
    compared = Compared(
        stores.database,
        stores.blobs,
        stores.ledger,
        stores.index,
        stores.locks,
        QueuedTasks(),
        sweep_uploads=build_sweeps(settings, stores).expired_uploads,
        sweep_receipts=ReceiptSweep(build_finishing(settings, stores)).finish_due,
        stalled_after=settings.worker.stalled_after,
        artifact_grace=timedelta(days=settings.documents.artifact_grace_days),
    )
    return reconciliation(compared, subset=subset)
