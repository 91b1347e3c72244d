"""Services and state of a run as its nodes see them, and the writes that wait for the next transaction.

The graph state carries ids and digests only; everything else is in the context.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypedDict
from uuid import UUID

from muniment.artifacts.keys import Variant
from muniment.artifacts.repository import ArtifactKey
from muniment.artifacts.tables import FullText
from muniment.processing.readers.contract import Options
from muniment.processing.runs.repository import ClaimedRun, Record, RunRepository
from muniment.processing.runs.tables import StepStatus
from muniment.processing.sandbox.client import FileReader
from muniment.search.external_index.copier import Copies
from muniment.search.indexing.chunking import PageSource
from muniment.search.indexing.repository import Indexing
from muniment.storage.db.advisory_locks import AdvisoryLocks
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, Work
from muniment.storage.objects.port import Blobs


class RunState(TypedDict, total=False):
    content_key: str
    original: str
    media_type: str
    kb_id: UUID
    artifact_text_id: UUID
    total_pages: int
    unread_pages: int
    is_processed: bool


def found(full: FullText) -> RunState:
    """What the nodes after it know of a text."""
    return {"artifact_text_id": full.id, "total_pages": full.total_pages, "unread_pages": len(full.problems)}


Effect = Callable[[Work[Service]], Awaitable[None]]


@dataclass
class Pending:
    """What a run has not written yet."""

    steps: dict[str, StepStatus] = field(default_factory=dict)
    effects: list[Effect] = field(default_factory=list)
    pages: Sequence[PageSource] | None = None
    """Of a short text that this run has just read: the next node need not fetch it."""


@dataclass(frozen=True)
class Tools:
    """The same for all runs."""

    database: Database
    blobs: Blobs
    locks: AdvisoryLocks
    reader: FileReader
    options: Options
    reading: Variant
    is_shared: bool
    """Whether artifacts belong to all organizations together."""
    indexing: Indexing
    copies: Copies | None = None
    """Where an index outside PostgreSQL holds passages of its own."""


@dataclass(frozen=True)
class Context:
    """One run's."""

    tools: Tools
    run: ClaimedRun
    record: Record
    pending: Pending = field(default_factory=Pending)

    @property
    def service(self) -> Service:
        return Service(self.run.organization_id)

    @asynccontextmanager
    async def step(
        self,
        name: str,
        status: StepStatus = StepStatus.SUCCESS,
        snapshot: Mapping[str, Any] | None = None,
        *,
        lasting: bool = False,
    ) -> AsyncIterator[Work[Service]]:
        """A transaction of this run: the fence and the step's record first, then what waited for it. No commit, no
        record.

        Only a `lasting` one waits for the disk, and everything before it lasts with it. The others may be lost in a
        power failure, and are then done again.
        """
        async with self.tools.database.service_work(self.service, lasting=lasting) as work:
            entered = {**self.pending.steps, name: status}
            await RunRepository(work.session).enter_steps(self.run, entered, snapshot=snapshot)
            for effect in self.pending.effects:
                await effect(work)
            yield work
        self.pending.steps.clear()
        self.pending.effects.clear()

    @asynccontextmanager
    async def within(self, name: str, snapshot: Mapping[str, Any] | None = None) -> AsyncIterator[Work[Service]]:
        """A transaction in the middle of a step: the fence and how far it is, and nothing of what waits."""
        async with self.tools.database.service_work(self.service, lasting=False) as work:
            await RunRepository(work.session).enter_steps(self.run, {name: StepStatus.STARTED}, snapshot=snapshot)
            yield work

    def later(self, name: str, effect: Effect | None = None) -> None:
        """A step that needs no transaction of its own: its record and what it writes go with the next one."""
        self.pending.steps[name] = StepStatus.SUCCESS
        if effect is not None:
            self.pending.effects.append(effect)

    def artifact_key(self, content_key: str) -> ArtifactKey:
        organization_id = None if self.tools.is_shared else self.run.organization_id
        return ArtifactKey(organization_id, content_key, self.tools.reading)
