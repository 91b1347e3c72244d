"""What proves that documents are gone, and brings away what nobody needs."""

from datetime import timedelta

from muniment.artifacts.collection import Collection
from muniment.bootstrap.auditing import build_sealer
from muniment.bootstrap.stores import Stores
from muniment.documents.sweeps import Sweeps
from muniment.lifecycle.removal.erasing import Erasing
from muniment.lifecycle.removal.finishing import Finishing
from muniment.lifecycle.removal.second_look import SecondLook
from muniment.lifecycle.removal.sweep import ReceiptSweep
from muniment.reconcile.comparisons import Means as Compared
from muniment.reconcile.comparisons import reconciliation
from muniment.reconcile.reconciliation import Reconciliation
from muniment.reconcile.subset import NOTHING, Subset
from muniment.settings import Settings
from muniment.storage.tasks.queue import QueuedTasks


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
