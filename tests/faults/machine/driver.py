"""Drive a real installation in step with the model: users with clients, two knowledge bases, and a worker."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, BinaryIO, TypeVar
from uuid import UUID

import httpx

from muniment.api import with_middleware
from muniment.documents.names import name_key
from muniment.processing.pipeline.context import WaitForVectors
from muniment.processing.readers.contract import ExtractedPage, ExtractionMethod, Paragraph, ReadingOptions
from muniment.processing.readers.errors import Unreadable, UnreadableCode
from muniment.processing.runs.repository import RunSuperseded
from muniment.processing.sandbox.client import OpenedFile
from muniment.settings import Settings
from muniment.storage.tasks.port import FAST, READING, MoveToQueue, RunJob, UnlimitedTurn
from tests.faults.machine.model import CONTENTS, OURS, PEOPLE, THEIRS, UNREADABLE
from tests.faults.moves.faults import Fault, Faults
from tests.faults.moves.installation import InProcessInstallation, LateWorker, installed, survives, the_app
from tests.processing.worker_fixture import FixedReader, _Opened
from tests.support.effects import SimulatedCrash
from tests.support.seed import Seed

T = TypeVar("T")
NEWEST = """
    SELECT r.run_id, r.organization_id, j.id, j.queue_name, j.status::text
      FROM document_processing_runs r JOIN documents d ON d.id = r.document_id AND d.epoch = r.epoch
      LEFT JOIN procrastinate_jobs j ON j.id = r.job_id WHERE d.id = %s
"""


@dataclass
class WordReader(FixedReader):
    """Reader that returns the words of the file, or simulates a crash."""

    is_deadly: bool = False
    has_died: bool = False

    @asynccontextmanager
    async def read(
        self, file: BinaryIO, media_type: str, options: ReadingOptions, *, first_page: int = 1
    ) -> AsyncIterator[OpenedFile]:
        if self.is_deadly:
            self.has_died = True
            raise SimulatedCrash
        text = file.read().decode()
        if text not in [content.text for content in CONTENTS]:
            raise Unreadable(UnreadableCode.ENCRYPTED, UNREADABLE)
        self.pages = (ExtractedPage(1, text, ExtractionMethod.TEXT, paragraphs=(Paragraph(0, len(text)),)),)
        yield _Opened(1, self._each())


@dataclass
class ModelDriver:
    """One installation for all examples. Each example starts from the same snapshot."""

    runner: asyncio.Runner
    installation: InProcessInstallation
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
        """Restore the initial state."""
        self.installation.keeping.restore()
        await self.restart()

    async def restart(self) -> None:
        """Restart all components of the installation."""
        await self.installation.restart()
        the_app(self.installation.parts)

    async def ask(self, who: str, method: str, path: str, **options: Any) -> httpx.Response:
        return await self.clients[who].request(method, path, **options)

    async def ask_and_die(self, at: int, who: str, method: str, path: str, **options: Any) -> httpx.Response | None:
        """Send a request and crash at effect `at`. Return None if it crashed before answering."""
        async with self.installation.disturbed(Faults(at, Fault.IS_THE_LAST)):
            answer = await survives(self.ask(who, method, path, **options))
        if answer is None:
            await self.restart()
            if self.installation.qdrant:  # the sweep repairs an external index within seconds
                await self.installation.sweep()
        return answer

    async def process(self, document_id: UUID, *, dies: bool) -> bool:
        """Process the document like a worker with its queue. Return whether the run reached its end."""
        run_id, organization_id, job_id, queue = self._waiting(document_id)
        self.reader.is_deadly, self.reader.has_died = dies, False
        try:
            await self._work(RunJob(run_id, organization_id, queue))
        except MoveToQueue as moved:
            self._move_job(job_id, moved.queue)
            with suppress(SimulatedCrash):
                await self._work(RunJob(run_id, organization_id, moved.queue))
        except SimulatedCrash:
            pass
        finally:
            self.reader.is_deadly = False
        if not self.reader.has_died:  # otherwise the job waits for another worker
            self._end_job(job_id)
        return not self.reader.has_died

    async def _work(self, job: RunJob) -> None:
        """Process a run, and the vectors that it waits for."""
        try:
            await self.installation.worker(job)
        except WaitForVectors:
            await self.installation.reconcile_env.worker_env.embed()
            await self.installation.worker(job)

    async def take(self, document_id: UUID) -> LateWorker:
        """Claim the run for a worker that then hangs. Its job goes to another worker later."""
        _, _, job_id, _ = self._waiting(document_id)
        self._move_job(job_id, READING)
        return await self.installation.claim(document_id)

    async def go_on(self, late: LateWorker) -> None:
        """Continue the worker that was hanging."""
        before = self.seed.rows("SELECT job_id FROM document_processing_runs WHERE run_id = %s", late.run.run_id)
        with suppress(RunSuperseded):
            try:
                await self.installation.worker._run_graph(late.run, late.record, UnlimitedTurn())
            except WaitForVectors:
                await self._work(RunJob(late.run.run_id, late.run.organization_id, READING))
            for (job_id,) in before:
                self._end_job(job_id)

    def rename(self, document_id: UUID, name: str) -> None:
        renamed = "UPDATE documents SET name = %s, name_key = %s WHERE id = %s"
        self.seed.execute(renamed, name, name_key(name), document_id)
        self.seed.execute("UPDATE document_revisions SET name = %s WHERE document_id = %s", name, document_id)

    def _waiting(self, document_id: UUID) -> tuple[UUID, UUID, int, str]:
        """Return the run and its job, after checking that it is in the queue exactly once."""
        ((run_id, organization_id, job_id, queue, status),) = self.seed.rows(NEWEST, document_id)
        assert status == "todo", (document_id, status)
        assert queue in (FAST, READING)
        return run_id, organization_id, job_id, queue

    def _move_job(self, job_id: int, queue: str) -> None:
        self.seed.execute("UPDATE procrastinate_jobs SET queue_name = %s WHERE id = %s", queue, job_id)

    def _end_job(self, job_id: int) -> None:
        self.seed.execute("DELETE FROM procrastinate_jobs WHERE id = %s", job_id)


@asynccontextmanager
async def _open(settings: Settings, seed: Seed, engine: str, runner: asyncio.Runner) -> AsyncIterator[ModelDriver]:
    async with installed(settings, seed, engine) as installation, AsyncExitStack() as clients:
        worker_env = installation.reconcile_env.worker_env
        people = {**installation.people, "stranger": seed.person(is_admin=True, is_operator=True)}
        theirs = seed.knowledge_base(people["editor"], "Of somebody else")
        seed.member(theirs, people["viewer"], "editor")
        worker_env.reader = reader = WordReader()
        driver = ModelDriver(runner, installation, {OURS: installation.kb_id, THEIRS: theirs}, reader)
        application = with_middleware(the_app(installation.parts), settings)
        for who in PEOPLE:
            transport = httpx.ASGITransport(application, raise_app_exceptions=False)
            client = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=people[who].headers)
            driver.clients[who] = await clients.enter_async_context(client)
        installation.keeping.save()
        yield driver


@contextmanager
def open_driver(settings: Settings, seed: Seed, engine: str) -> Iterator[ModelDriver]:
    """Open an installation for all examples of a test, with an event loop for the synchronous state machine."""
    with asyncio.Runner() as runner:
        opening = _open(settings, seed, engine, runner)
        yield runner.run(opening.__aenter__())
        runner.run(opening.__aexit__(None, None, None))
