"""All reconciliation checks in their order.

What a sweep should have finished comes first, then runs and jobs, then stored objects and vectors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from muniment.reconcile.drift import Comparison, Store
from muniment.reconcile.index_copies import LackingDocuments, PointComparison, PointRepair
from muniment.reconcile.objects import NOTHING, FileComparison, Originals, Packs, Subset
from muniment.reconcile.orphans import LeftBehindCollections, LeftBehindObjects, Litter
from muniment.reconcile.overdue import Overdue, Sweep
from muniment.reconcile.runner import Patience, Reconciliation
from muniment.reconcile.runs import IdleJobs, StuckRuns, WaitingDocuments
from muniment.search.external_index.intent_sweep import IntentSweep
from muniment.storage.db.advisory_locks import AdvisoryLocks
from muniment.storage.db.work import Database
from muniment.storage.deletions.ledger import Ledger
from muniment.storage.objects.port import Blobs
from muniment.storage.tasks.port import Tasks
from muniment.storage.vectors.port import VectorIndex

A_MOVE = timedelta(minutes=1)
"""Longer than any move has the index to itself before the sweep takes over."""
LATER = timedelta(hours=1)
"""What waits for another server is told of when the alerts would ring."""


@dataclass(frozen=True)
class Means:
    """What is compared, and what repairs are made with."""

    database: Database
    blobs: Blobs
    ledger: Ledger
    index: VectorIndex
    locks: AdvisoryLocks
    tasks: Tasks
    sweep_uploads: Sweep
    sweep_receipts: Sweep
    stalled_after: timedelta
    artifact_grace: timedelta


def reconciliation(means: Means, *, subset: Subset = NOTHING, patience: Patience | None = None) -> Reconciliation:
    comparisons = (*_overdue(means), *_work(means), *_files(means, subset), *_passages(means))
    return Reconciliation(means.database, comparisons, _of_installation(means, subset), patience or Patience())


def _overdue(means: Means) -> Sequence[Comparison]:
    database = means.database
    return [
        Overdue(database, Store.UPLOADS, means.sweep_uploads),
        Overdue(database, Store.INTENTS, IntentSweep(database, means.index).put_right, later=A_MOVE),
        Overdue(database, Store.LEDGER, means.ledger.carry_out, later=LATER),
        Overdue(database, Store.RECEIPTS, means.sweep_receipts, later=LATER),
        Overdue(database, Store.ARTIFACTS, later=means.artifact_grace + LATER),
    ]


def _work(means: Means) -> Sequence[Comparison]:
    return [
        StuckRuns(means.database, means.stalled_after),
        WaitingDocuments(means.database, means.tasks),
        IdleJobs(means.database),
    ]


def _files(means: Means, subset: Subset) -> Sequence[Comparison]:
    litter = Litter(means.database, means.blobs, means.ledger)
    shelves = (Originals(means.database, means.blobs), Packs(means.database, means.blobs, are_shared=False))
    return [FileComparison(means.database, means.blobs, litter, shelf, subset) for shelf in shelves]


def _passages(means: Means) -> Sequence[Comparison]:
    lacking = LackingDocuments(means.database, means.index.holds_copies)
    if not means.index.holds_copies:
        return [lacking]
    repairs = PointRepair(means.database, means.index, means.locks)
    return [PointComparison(means.database, means.index, repairs), lacking]


def _of_installation(means: Means, subset: Subset) -> Sequence[Comparison]:
    litter = Litter(means.database, means.blobs, means.ledger, of_all=True)
    shared = Packs(means.database, means.blobs, are_shared=True)
    return [
        FileComparison(means.database, means.blobs, litter, shared, subset),
        LeftBehindObjects(means.database, means.blobs, litter),
        LeftBehindCollections(means.database, means.index),
    ]
