"""Services and state of a run as its nodes see them, and the writes that wait for the next transaction.

The graph state carries ids and numbers only; everything else is in the context.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypedDict
from uuid import UUID

from muniment.artifacts.keys import READING_VERSION, ReadingVariant
from muniment.artifacts.repository import ArtifactKey, ArtifactRepository
from muniment.artifacts.tables import TextArtifact
from muniment.documents.originals import Original
from muniment.lifecycle.moves.automatic_revert import AutomaticRevert
from muniment.processing.readers.contract import ReaderResources, ReadingOptions
from muniment.processing.runs.repository import ClaimedRun, DocumentRecord, RunRepository
from muniment.processing.runs.tables import StepStatus
from muniment.processing.sandbox.client import FileReader
from muniment.search.external_index.copier import IndexCopier
from muniment.search.indexing.chunking import SourcePage
from muniment.search.indexing.repository import InstalledModels
from muniment.storage.db.advisory_locks import AdvisoryLocks, LockGroup
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, Work
from muniment.storage.deletions.ledger import Ledger
from muniment.storage.objects.port import ObjectStore
from muniment.storage.tasks.port import RetryLater, TaskQueue, Turn, UnlimitedTurn
from muniment.storage.tasks.worker_registry import WorkerRegistry

LOCKED_RETRY_SECONDS = 1
VECTORS_RETRY_SECONDS = 3600
"""After this time a run that waits for vectors checks again, in case it was not notified that they are complete."""


class WaitForVectors(RetryLater):
    """The run can go on when all passages have vectors. It waits in the queue, without a slot."""

    def __init__(self) -> None:
        super().__init__(VECTORS_RETRY_SECONDS)


class RunState(TypedDict, total=False):
    """What nodes pass on to later nodes."""

    artifact_text_id: UUID
    total_pages: int
    unread_pages: int
    is_processed: bool


def artifact_state(artifact: TextArtifact) -> RunState:
    """Return what later nodes need to know about an artifact."""
    return {
        "artifact_text_id": artifact.id,
        "total_pages": artifact.total_pages,
        "unread_pages": len(artifact.problems),
    }


DeferredWrite = Callable[[Work[Service]], Awaitable[None]]


@dataclass
class PendingWrites:
    """Step records and writes of a run that wait for its next transaction."""

    steps: dict[str, StepStatus] = field(default_factory=dict)
    writes: list[DeferredWrite] = field(default_factory=list)
    pages: Sequence[SourcePage] | None = None
    """All pages of a short text that this run has just extracted, so that IndexText need not fetch them."""


@dataclass(frozen=True)
class RunServices:
    """Services and settings shared by all runs of a worker."""

    database: Database
    objects: ObjectStore
    locks: AdvisoryLocks
    reader: FileReader
    options: ReadingOptions
    reading_variant: ReadingVariant
    shares_artifacts: bool
    """Whether all organizations share artifacts."""
    installed_models: InstalledModels
    ledger: Ledger
    """Deletes at once what a failed run wrote."""
    workers: WorkerRegistry
    """Where this worker is registered, and the deaths of others are found."""
    tasks: TaskQueue
    resources: ReaderResources = field(default_factory=ReaderResources)
    """Limits that a document must not exceed, whatever the sandboxed reader says."""
    index_copier: IndexCopier | None = None
    """Set if an external index holds copies of the passages."""
    partial_results_interval: float = 5.0
    """Seconds after which the pages read so far are stored, so that an interrupted run can continue."""
    minimum_turn: float = 1.0
    """How long a step keeps its slot at least, as a multiple of the time that its start took."""

    @property
    def automatic_revert(self) -> AutomaticRevert:
        return AutomaticRevert(self.tasks, index_holds_copies=self.index_copier is not None)

    def artifact_key(self, run: ClaimedRun, record: DocumentRecord) -> ArtifactKey:
        """Return the key of the artifact that this run needs."""
        organization_id = None if self.shares_artifacts else run.organization_id
        return ArtifactKey(organization_id, record.content_key, self.reading_variant)

    async def find_artifact(self, work: Work[Service], run: ClaimedRun, record: DocumentRecord) -> TextArtifact | None:
        """Return the artifact that this run needs, if it exists. A run may ask for an older version of it."""
        artifacts = ArtifactRepository(work.session)
        if run.algorithm_version in (None, READING_VERSION):
            return await artifacts.find(self.artifact_key(run, record))
        return await artifacts.find_newest(record.content_key, run.algorithm_version)

    def waits_for_vectors(self, run: ClaimedRun) -> bool:
        """Return whether the document may show the result only when it is found by meaning too.

        A reread waits because the result before answers meanwhile. With an external index every run does: the copies
        are made from the vectors, and belong to the epoch of the run.
        """
        return run.is_reread or self.index_copier is not None

    async def find_complete_artifact(
        self, work: Work[Service], run: ClaimedRun, record: DocumentRecord
    ) -> TextArtifact | None:
        """Return the artifact that this run needs, if it only has to be published: its text is indexed too.

        With an external index there is always something left to do, because its copies belong to one document.
        """
        if self.index_copier is not None:
            return None
        artifact = await self.find_artifact(work, run, record)
        if artifact is None:
            return None
        progress = await self.installed_models.find_progress(work, artifact.id)
        is_complete = progress.is_embedded if self.waits_for_vectors(run) else not progress.missing
        return artifact if is_complete else None


@dataclass(frozen=True)
class RunContext:
    """One run, its document and its pending writes."""

    services: RunServices
    run: ClaimedRun
    record: DocumentRecord
    turn: Turn = field(default_factory=UnlimitedTurn)
    pending: PendingWrites = field(default_factory=PendingWrites)
    locks: LockGroup | None = None
    """Locks that the run holds until it ends."""

    @property
    def original(self) -> Original:
        record = self.record
        return Original(
            self.services.objects, self.run.document_id, record.original_key, record.file_size, record.sha256
        )

    @property
    def service(self) -> Service:
        return Service(self.run.organization_id)

    @asynccontextmanager
    async def transaction(
        self,
        name: str,
        status: StepStatus = StepStatus.SUCCESS,
        snapshot: Mapping[str, Any] | None = None,
        *,
        durable: bool = False,
    ) -> AsyncIterator[Work[Service]]:
        """Open a transaction of this run: the fence and the step records first, then the deferred writes.

        Only a `durable` one waits for the disk, which makes all earlier ones durable too. Others may be lost in a power
        failure; their steps are then done again.
        """
        async with self.services.database.service_work(self.service, durable=durable) as work:
            steps = {**self.pending.steps, name: status}
            await RunRepository(work.session).record_steps(self.run, steps, snapshot=snapshot)
            for write in self.pending.writes:
                await write(work)
            yield work
        self.pending.steps.clear()
        self.pending.writes.clear()

    @asynccontextmanager
    async def progress_transaction(
        self, name: str, snapshot: Mapping[str, Any] | None = None
    ) -> AsyncIterator[Work[Service]]:
        """Open a transaction within a step: the fence and the progress, without pending records and writes."""
        async with self.services.database.service_work(self.service, durable=False) as work:
            await RunRepository(work.session).record_steps(self.run, {name: StepStatus.STARTED}, snapshot=snapshot)
            yield work

    def record_step(self, name: str) -> None:
        """Record a successful step together with the next transaction."""
        self.pending.steps[name] = StepStatus.SUCCESS

    def defer(self, write: DeferredWrite) -> None:
        """Carry out a write at the beginning of the next transaction."""
        self.pending.writes.append(write)

    @asynccontextmanager
    async def compute_lock(self, name: str) -> AsyncIterator[None]:
        """Hold the lock of a computation at least for the block, or raise `RetryLater` if another worker is computing
        the same. A run holds it until it ends, because releasing it earlier would cost another round trip.

        Waiting in the queue leaves the slot to other runs; the next attempt finds the result.
        """
        async with AsyncExitStack() as opened:
            locks = self.locks
            if locks is None:
                locks = await opened.enter_async_context(self.services.locks.open_group())
            if not await locks.try_add(name):
                raise RetryLater(LOCKED_RETRY_SECONDS)
            yield
