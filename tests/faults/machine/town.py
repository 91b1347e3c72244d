"""The real thing behind the model: people with their clients, two knowledge bases, and a worker step by step."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, BinaryIO, TypeVar
from uuid import UUID

import httpx

from muniment.api import framed
from muniment.documents.names import name_key
from muniment.processing.completion import mark_started
from muniment.processing.context import OpenReading
from muniment.processing.process import Processing
from muniment.processing.readers.contract import Code, Method, Options, Page, Paragraph, Unreadable
from muniment.processing.runs import ClaimedRun, Record, RunRepository, Superseded
from muniment.settings import Settings
from muniment.storage.db.principal import Service
from muniment.storage.tasks.port import FAST, READING, MoveOn, RunJob
from tests.faults.effects import Death
from tests.faults.machine.model import CONTENTS, OURS, THEIRS, UNREADABLE
from tests.faults.moves.faults import Fault, Faults
from tests.faults.moves.installation import Installation, installed, the_app
from tests.processing.desk import FixedReader, _Opened
from tests.seed import Seed

T = TypeVar("T")
Claimed = tuple[ClaimedRun, Record]
"""What a worker holds."""
NEWEST = """
    SELECT r.run_id, r.organization_id, j.id, j.queue_name, j.status::text
      FROM document_processing_runs r JOIN documents d ON d.id = r.document_id AND d.epoch = r.epoch
      LEFT JOIN procrastinate_jobs j ON j.id = r.job_id WHERE d.id = %s
"""


@dataclass
class WordReader(FixedReader):
    """Reads the words that are there; over some files the whole process dies."""

    is_deadly: bool = False
    has_died: bool = False

    @asynccontextmanager
    async def read(self, file: BinaryIO, media_type: str, options: Options) -> AsyncIterator[OpenReading]:
        if self.is_deadly:
            self.has_died = True
            raise Death
        text = file.read().decode()
        if text not in [content.text for content in CONTENTS]:
            raise Unreadable(Code.ENCRYPTED, UNREADABLE)
        self.pages = (Page(1, text, Method.TEXT, paragraphs=(Paragraph(0, len(text)),)),)
        yield _Opened(1, self._each())


@dataclass
class Town:
    """One installation for all examples; each begins as it was when it was opened."""

    runner: asyncio.Runner
    installation: Installation
    kbs: dict[str, UUID]
    reader: WordReader
    clients: dict[str, httpx.AsyncClient] = field(default_factory=dict)

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(coroutine)

    @property
    def seed(self) -> Seed:
        return self.installation.seed

    def path(self, kb: str, document_id: UUID | None = None, place: str = "") -> str:
        path = f"/api/v1/knowledge-bases/{self.kbs[kb]}/documents"
        return path if document_id is None else f"{path}/{document_id}{place}"

    async def begin(self) -> None:
        """As on the first day."""
        self.installation.keeping.restore()
        await self.restart()

    async def restart(self) -> None:
        """Everything dies, and comes up again."""
        await self.installation.restart()
        the_app().state.parts = self.installation.parts

    async def ask(self, who: str, method: str, path: str, **options: Any) -> httpx.Response:
        return await self.clients[who].request(method, path, **options)

    async def ask_and_die(self, at: int, who: str, method: str, path: str, **options: Any) -> httpx.Response | None:
        """The answer, or none: the process died at this effect of it, and came up again."""
        faults = Faults(at, Fault.IS_THE_LAST)
        answer = None
        async with self.installation.disturbed(faults):
            with suppress(Death):
                answer = await self.ask(who, method, path, **options)
        if faults.struck:
            await self.restart()
            if self.installation.qdrant:  # what an index outside was told is put right within seconds
                await self.installation.sweep()
            return None
        return answer

    async def process(self, document_id: UUID, *, dies: bool) -> bool:
        """As a worker with its queue does; whether it came to the end."""
        run_id, organization_id, job_id, queue, _ = self._waiting(document_id)
        self.reader.is_deadly, self.reader.has_died = dies, False
        worker = self._worker()
        try:
            await worker(RunJob(run_id, organization_id, queue))
        except MoveOn as moved:
            self._move_job(job_id, moved.queue)
            with suppress(Death):
                await worker(RunJob(run_id, organization_id, moved.queue))
        except Death:
            pass
        finally:
            self.reader.is_deadly = False
        if not self.reader.has_died:  # otherwise the job waits for another worker
            self._end_job(job_id)
        return not self.reader.has_died

    async def take(self, document_id: UUID) -> Claimed:
        """By a worker that falls silent then; its job goes to another after a while."""
        run_id, organization_id, job_id, _, _ = self._waiting(document_id)
        self._move_job(job_id, READING)
        async with self.installation.stores.database.service_work(Service(organization_id)) as work:
            claimed = await RunRepository(work.session).claim(run_id)
            assert claimed is not None
            await mark_started(work, claimed[0])
        return claimed

    async def go_on(self, claimed: Claimed) -> None:
        """The silent one wakes up."""
        before = self.seed.rows("SELECT job_id FROM document_processing_runs WHERE run_id = %s", claimed[0].run_id)
        with suppress(Superseded):
            await self._worker()._carry_out(*claimed)
            for (job_id,) in before:
                self._end_job(job_id)

    def rename(self, document_id: UUID, name: str) -> None:
        renamed = "UPDATE documents SET name = %s, name_key = %s WHERE id = %s"
        self.seed.execute(renamed, name, name_key(name), document_id)
        self.seed.execute("UPDATE document_revisions SET name = %s WHERE document_id = %s", name, document_id)

    def _worker(self) -> Processing:
        floor = self.installation.floor
        return floor._workers.get(floor.desk.reading) or floor._workers.setdefault(
            floor.desk.reading, Processing(floor.desk.tools)
        )

    def _waiting(self, document_id: UUID) -> tuple[UUID, UUID, int, str, str]:
        """What should be worked on is in the queue, once."""
        ((run_id, organization_id, job_id, queue, status),) = self.seed.rows(NEWEST, document_id)
        assert status == "todo", (document_id, status)
        assert queue in (FAST, READING)
        return run_id, organization_id, job_id, queue, status

    def _move_job(self, job_id: int, queue: str) -> None:
        self.seed.execute("UPDATE procrastinate_jobs SET queue_name = %s WHERE id = %s", queue, job_id)

    def _end_job(self, job_id: int) -> None:
        self.seed.execute("DELETE FROM procrastinate_jobs WHERE id = %s", job_id)


@asynccontextmanager
async def _open(settings: Settings, seed: Seed, engine: str, runner: asyncio.Runner) -> AsyncIterator[Town]:
    async with installed(settings, seed, engine) as installation, AsyncExitStack() as clients:
        people, desk = installation.people, installation.floor.desk
        theirs = seed.knowledge_base(people["editor"], "Of somebody else")
        seed.member(theirs, people["viewer"], "editor")
        desk.reader = reader = WordReader()
        town = Town(runner, installation, {OURS: installation.kb_id, THEIRS: theirs}, reader)
        application = framed(the_app(), settings)
        for who, person in people.items():
            transport = httpx.ASGITransport(application, raise_app_exceptions=False)
            client = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=person.headers)
            town.clients[who] = await clients.enter_async_context(client)
        installation.keeping.keep()
        yield town


class open_town:  # noqa: N801  # used as a function
    """Of all examples of a test, on an event loop of its own: what drives it is not asynchronous."""

    def __init__(self, settings: Settings, seed: Seed, engine: str) -> None:
        self._runner = asyncio.Runner()
        self._town = _open(settings, seed, engine, self._runner)

    def __enter__(self) -> Town:
        self._runner.__enter__()
        return self._runner.run(self._town.__aenter__())

    def __exit__(self, *reason: Any) -> None:
        self._runner.run(self._town.__aexit__(*reason))
        self._runner.__exit__(*reason)
