"""What a node works with. The state carries ids and digests only; everything else is here."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Protocol, TypedDict
from uuid import UUID

from muniment.artifacts.repository import ArtifactKey
from muniment.artifacts.variants import Variant
from muniment.processing.readers.contract import Options, Page
from muniment.processing.runs import ClaimedRun, RunRepository
from muniment.processing.tables import StepStatus
from muniment.search.copies import Copies
from muniment.search.installed import Indexing
from muniment.storage.blobs.port import Blobs
from muniment.storage.db.locks import AdvisoryLocks
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, Work


class OpenReading(Protocol):
    """A file that the sandbox has opened."""

    @property
    def total_pages(self) -> int: ...

    @property
    def pages(self) -> AsyncIterator[Page]: ...


class FileReader(Protocol):
    """Reads a file where it can do no harm."""

    def read(self, file: BinaryIO, media_type: str, options: Options) -> AbstractAsyncContextManager[OpenReading]:
        """Open it, or raise `Unreadable`. Leaving the block ends the reader, however far it was."""


class RunState(TypedDict, total=False):
    content_key: str
    original: str
    media_type: str
    kb_id: UUID
    artifact_text_id: UUID
    is_processed: bool


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
    _noted: list[str] = field(default_factory=list)

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
        """A transaction of this run: the fence and the step's record first. No commit, no record.

        Only a `lasting` one waits for the disk, and everything before it lasts with it. The others may be lost in a
        power failure, and are then done again.
        """
        async with self.tools.database.service_work(self.service, lasting=lasting) as work:
            runs = RunRepository(work.session)
            if self._noted:
                await runs.enter_steps(self.run, self._noted, StepStatus.SUCCESS)
            await runs.enter_steps(self.run, [name], status, snapshot=snapshot)
            yield work
        self._noted.clear()

    def note(self, name: str) -> None:
        """A step that had nothing to write: its record goes with the next transaction."""
        self._noted.append(name)

    def artifact_key(self, content_key: str) -> ArtifactKey:
        organization_id = None if self.tools.is_shared else self.run.organization_id
        return ArtifactKey(organization_id, content_key, self.tools.reading)
