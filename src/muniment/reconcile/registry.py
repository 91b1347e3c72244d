"""All reconciliation checks in their order.

What a sweep should have finished comes first, then runs and jobs, then stored objects and vectors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from muniment.reconcile.drift import ReconcileCheck, StoreName
from muniment.reconcile.index_copies import IndexCopyCheck, IndexCopyRepair, UnindexedDocuments
from muniment.reconcile.missing_vectors import PassagesWithoutVectors
from muniment.reconcile.objects import NO_READS, ObjectCheck, OriginalObjects, ReadSample, TextPackObjects
from muniment.reconcile.orphans import DeletedKnowledgeBaseCollections, DeletedKnowledgeBaseObjects, OrphanedObjects
from muniment.reconcile.overdue import OverdueCheck, Sweep
from muniment.reconcile.runner import GracePeriods, ReconcileRunner
from muniment.reconcile.runs import DocumentsWithoutRun, OrphanedJobs, StalledRuns
from muniment.search.external_index.intent_sweep import IntentSweep
from muniment.storage.db.advisory_locks import AdvisoryLocks
from muniment.storage.db.work import Database
from muniment.storage.deletions.ledger import Ledger
from muniment.storage.objects.port import ObjectStore
from muniment.storage.tasks.port import TaskQueue
from muniment.storage.vectors.port import ExternalIndex

MOVE_GRACE = timedelta(minutes=1)
"""Longer than any move has the index to itself before the sweep takes over."""
REPLACEMENT_GRACE = timedelta(hours=2)
"""Longer than the time between two sweeps of failed replacements."""
ALERT_GRACE = timedelta(hours=1)
"""Delay for what waits for another server; reported when the alerts would fire."""


@dataclass(frozen=True)
class ReconcileTools:
    """Stores that are compared, and the tools for repairs."""

    database: Database
    objects: ObjectStore
    ledger: Ledger
    external_index: ExternalIndex | None
    locks: AdvisoryLocks
    tasks: TaskQueue
    sweep_uploads: Sweep
    sweep_replacements: Sweep
    sweep_receipts: Sweep
    stalled_after: timedelta
    artifact_grace: timedelta


def build_runner(
    tools: ReconcileTools, *, sample: ReadSample = NO_READS, grace_periods: GracePeriods | None = None
) -> ReconcileRunner:
    comparisons = (*_overdue_checks(tools), *_run_checks(tools), *_object_checks(tools, sample), *_index_checks(tools))
    return ReconcileRunner(tools.database, comparisons, _global_checks(tools, sample), grace_periods or GracePeriods())


def _overdue_checks(tools: ReconcileTools) -> Sequence[ReconcileCheck]:
    database = tools.database
    return [
        OverdueCheck(database, StoreName.UPLOADS, tools.sweep_uploads),
        OverdueCheck(database, StoreName.REPLACEMENTS, tools.sweep_replacements, grace=REPLACEMENT_GRACE),
        OverdueCheck(
            database, StoreName.INTENTS, IntentSweep(database, tools.external_index).settle_due, grace=MOVE_GRACE
        ),
        OverdueCheck(database, StoreName.LEDGER, tools.ledger.process, grace=ALERT_GRACE),
        OverdueCheck(database, StoreName.RECEIPTS, tools.sweep_receipts, grace=ALERT_GRACE),
        OverdueCheck(database, StoreName.ARTIFACTS, grace=tools.artifact_grace + ALERT_GRACE),
    ]


def _run_checks(tools: ReconcileTools) -> Sequence[ReconcileCheck]:
    return [
        StalledRuns(tools.database, tools.tasks, tools.stalled_after),
        DocumentsWithoutRun(tools.database, tools.tasks),
        OrphanedJobs(tools.database, tools.tasks),
        PassagesWithoutVectors(tools.database, tools.tasks, tools.stalled_after),
    ]


def _object_checks(tools: ReconcileTools, sample: ReadSample) -> Sequence[ReconcileCheck]:
    orphans = OrphanedObjects(tools.database, tools.objects, tools.ledger)
    object_kinds = (
        OriginalObjects(tools.database, tools.objects),
        TextPackObjects(tools.database, tools.objects, are_shared=False),
    )
    return [ObjectCheck(tools.database, tools.objects, orphans, object_kind, sample) for object_kind in object_kinds]


def _index_checks(tools: ReconcileTools) -> Sequence[ReconcileCheck]:
    index = tools.external_index
    unindexed = UnindexedDocuments(tools.database, needs_epoch=index is not None)
    if index is None:
        return [unindexed]
    return [IndexCopyCheck(tools.database, index, IndexCopyRepair(tools.database, index, tools.locks)), unindexed]


def _global_checks(tools: ReconcileTools, sample: ReadSample) -> Sequence[ReconcileCheck]:
    orphans = OrphanedObjects(tools.database, tools.objects, tools.ledger, any_organization=True)
    shared = TextPackObjects(tools.database, tools.objects, are_shared=True)
    checks: list[ReconcileCheck] = [
        ObjectCheck(tools.database, tools.objects, orphans, shared, sample),
        DeletedKnowledgeBaseObjects(tools.database, tools.objects, orphans),
    ]
    if tools.external_index is not None:
        checks.append(DeletedKnowledgeBaseCollections(tools.database, tools.external_index))
    return checks
