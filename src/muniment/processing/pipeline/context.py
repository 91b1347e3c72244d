"""Services and state of a run as its nodes see them, and the writes that wait for the next transaction.

The graph state carries ids and digests only; everything else is in the context.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypedDict
from uuid import UUID

from muniment.artifacts.keys import ReadingVariant
from muniment.artifacts.repository import ArtifactKey
from muniment.artifacts.tables import TextArtifact
from muniment.processing.readers.contract import ReadingOptions
from muniment.processing.runs.repository import ClaimedRun, DocumentRecord, RunRepository
from muniment.processing.runs.tables import StepStatus
from muniment.processing.sandbox.client import FileReader
from muniment.search.external_index.copier import IndexCopier
from muniment.search.indexing.chunking import SourcePage
from muniment.search.indexing.repository import InstalledModels
from muniment.storage.db.advisory_locks import AdvisoryLocks
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, Work
from muniment.storage.objects.port import ObjectStore


class RunState(TypedDict, total=False):
    content_key: str
    original: str
    media_type: str
    kb_id: UUID
    artifact_text_id: UUID
    total_pages: int
    unread_pages: int
    is_processed: bool


def artifact_state(artifact: TextArtifact) -> RunState:
    """What the nodes after it know of a text."""
    return {
        "artifact_text_id": artifact.id,
        "total_pages": artifact.total_pages,
        "unread_pages": len(artifact.problems),
    }


DeferredWrite = Callable[[Work[Service]], Awaitable[None]]


@dataclass
class PendingWrites:
    """What a run has not written yet."""

    steps: dict[str, StepStatus] = field(default_factory=dict)
    writes: list[DeferredWrite] = field(default_factory=list)
    pages: Sequence[SourcePage] | None = None
    """Of a short text that this run has just read: the next node need not fetch it."""


@dataclass(frozen=True)
class RunServices:
    """The same for all runs."""

    database: Database
    blobs: ObjectStore
    locks: AdvisoryLocks
    reader: FileReader
    options: ReadingOptions
    reading_variant: ReadingVariant
    shares_artifacts: bool
    """Whether artifacts belong to all organizations together."""
    installed_models: InstalledModels
    index_copier: IndexCopier | None = None
    """Where an index outside PostgreSQL holds passages of its own."""


@dataclass(frozen=True)
class RunContext:
    """One run's."""

    services: RunServices
    run: ClaimedRun
    record: DocumentRecord
    pending: PendingWrites = field(default_factory=PendingWrites)

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
        """A transaction of this run: the fence and the step's record first, then what waited for it. No commit, no
        record.

        Only a `lasting` one waits for the disk, and everything before it lasts with it. The others may be lost in a
        power failure, and are then done again.
        """
        async with self.services.database.service_work(self.service, durable=durable) as work:
            entered = {**self.pending.steps, name: status}
            await RunRepository(work.session).record_steps(self.run, entered, snapshot=snapshot)
            for effect in self.pending.writes:
                await effect(work)
            yield work
        self.pending.steps.clear()
        self.pending.writes.clear()

    @asynccontextmanager
    async def progress_transaction(
        self, name: str, snapshot: Mapping[str, Any] | None = None
    ) -> AsyncIterator[Work[Service]]:
        """A transaction in the middle of a step: the fence and how far it is, and nothing of what waits."""
        async with self.services.database.service_work(self.service, durable=False) as work:
            await RunRepository(work.session).record_steps(self.run, {name: StepStatus.STARTED}, snapshot=snapshot)
            yield work

    def record_step(self, name: str, write: DeferredWrite | None = None) -> None:
        """A step that needs no transaction of its own: its record and what it writes go with the next one."""
        self.pending.steps[name] = StepStatus.SUCCESS
        if write is not None:
            self.pending.writes.append(write)

    def artifact_key(self, content_key: str) -> ArtifactKey:
        organization_id = None if self.services.shares_artifacts else self.run.organization_id
        return ArtifactKey(organization_id, content_key, self.services.reading_variant)
