"""One worker with the real readers in the real sandbox, and checks for its leftovers."""

import itertools
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

import psutil

from muniment.artifacts.text_packs import read_page_text
from muniment.processing.pipeline.processor import RunProcessor
from muniment.processing.readers.contract import ReaderResources, ReadingOptions
from muniment.processing.readers.ocr.engine import find_engine
from muniment.processing.sandbox.client import Sandbox
from muniment.processing.sandbox.parent.server_process import SERVER_MODULE
from muniment.storage.db.advisory_locks import AdvisoryLocks
from muniment.storage.db.work import Database
from muniment.storage.objects.folder.store import FolderObjectStore
from muniment.storage.tasks.port import FAST, MoveToQueue
from tests.processing.worker_fixture import WorkerFixture
from tests.support.cluster import PASSWORDS, Cluster, service_login
from tests.support.seed import Seed

_numbers = itertools.count()


def is_server(process: psutil.Process) -> bool:
    try:
        return SERVER_MODULE in process.cmdline()
    except psutil.Error:  # a process of another test that has just ended
        return False


@dataclass(frozen=True)
class ProcessingOutcome:
    """The outcome of one document, as users and programs see it."""

    status: str
    processing_status: str
    last_error: str | None
    processing_errors: list[dict[str, str]] | None
    run_status: str
    run_error: dict[str, str] | None
    total_pages: int | None
    problems: list[dict[str, Any]] | None
    ocr_pages: int
    diagrams: int
    texts: Sequence[str]

    @property
    def code(self) -> str | None:
        """Return why it failed, after checking that all representations agree."""
        if self.status == "completed":
            assert (self.run_status, self.last_error, self.processing_errors) == ("completed", None, None)
            return None
        assert (self.status, self.processing_status, self.run_status) == ("failed", "failed", "failed")
        assert self.run_error is not None
        assert self.processing_errors == [self.run_error]
        assert self.last_error == self.run_error["message"]
        assert self.last_error.endswith(".")
        return self.run_error["code"]


@dataclass(frozen=True)
class SandboxedWorkerFixture:
    """One worker for all documents of a test module."""

    worker_env: WorkerFixture
    worker: RunProcessor
    objects_folder: Path
    temporary_folder: Path

    async def process(self, content: bytes, media_type: str) -> ProcessingOutcome:
        document_id = await self.worker_env.document(content, media_type=media_type)
        try:
            await self.worker(self.worker_env.job(document_id, FAST))
        except MoveToQueue as moved:
            await self.worker(self.worker_env.job(document_id, moved.queue))
        return await self._outcome(document_id)

    async def _outcome(self, document_id: UUID) -> ProcessingOutcome:
        question = """SELECT d.status, d.processing_status, last_error, processing_errors, r.status, r.error,
                             d.total_pages, a.problems, coalesce((a.methods->>'ocr')::int, 0),
                             (SELECT count(*) FROM document_diagrams g WHERE g.document_id = d.id)
                        FROM documents d JOIN document_processing_runs r ON r.document_id = d.id
                        LEFT JOIN artifacts_full_text a ON a.id = d.artifact_text_id WHERE d.id = %s"""
        (row,) = self.worker_env.seed.rows(question, document_id)
        pages = """SELECT page_text_uri, page_text_sha256 FROM artifact_pages a JOIN document_pages p
                       ON p.artifact_page_id = a.id WHERE p.document_id = %s ORDER BY a.page_number"""
        texts = [
            await read_page_text(self.worker_env.objects, *page)
            for page in self.worker_env.seed.rows(pages, document_id)
        ]
        return ProcessingOutcome(*row, texts)  # type: ignore[call-arg]  # the length of a row is unknown

    async def require_sound(self, build: Callable[[str], bytes], media_type: str) -> None:
        """Check that nothing is left and that the same worker reads the next document, made by `build` from words."""
        assert self.processes_left() == self.files_left() == []
        words = f"Good words {next(_numbers)}"
        outcome = await self.process(build(words), media_type)
        assert (outcome.code, outcome.texts) == (None, [words])

    def processes_left(self) -> list[str]:
        """Return the descendants of the fork server."""
        (server,) = [process for process in psutil.Process().children() if is_server(process)]
        return [str(process) for process in server.children(recursive=True)]

    def files_left(self) -> list[str]:
        """Return temporary files, named or only open, and objects that no row and no ledger entry references."""
        known = """SELECT original_uri FROM documents UNION SELECT full_text_uri FROM artifacts_full_text
                   UNION SELECT target FROM deletions WHERE reason = 'never_kept'"""
        referenced = {key for (key,) in self.worker_env.seed.rows(known)}
        objects = {
            str(path.relative_to(self.objects_folder)) for path in self.objects_folder.rglob("*") if path.is_file()
        }
        opened = [str(path.readlink()) for path in Path("/proc/self/fd").glob("*") if path.is_symlink()]
        return [
            *map(str, self.temporary_folder.iterdir()),
            *(path for path in opened if path.startswith(str(self.temporary_folder))),
            *sorted(objects - referenced),
        ]


def a_sandbox(**limits: Any) -> Sandbox:
    """Return a sandbox as in production, with the tools of this machine."""
    engine = find_engine()
    resources = ReaderResources(tesseract=engine.path, tessdata=engine.data_folder) if engine else ReaderResources()
    return Sandbox(resources, **limits)


@asynccontextmanager
async def open_sandboxed_worker(
    cluster: Cluster, folder: Path, sandbox: Sandbox
) -> AsyncIterator[SandboxedWorkerFixture]:
    """Open a database, a store and a worker in one event loop."""
    temporary, usual = folder / "temporary", tempfile.tempdir
    temporary.mkdir()
    with cluster.new_database() as address:
        seed, objects = Seed(address), FolderObjectStore(folder / "blobs")
        database = Database(address, app_password=PASSWORDS.app, service_password=PASSWORDS.service, pool_size=5)
        locks = AdvisoryLocks(service_login(address), max_connections=4)
        worker_env = WorkerFixture(seed, database, objects, locks)
        tempfile.tempdir = str(temporary)
        try:
            await sandbox.probe()
            # One language halves the time of OCR, and its quality is not tested here.
            tools = replace(worker_env.services, reader=sandbox, options=ReadingOptions(ocr_languages=("eng",)))
            yield SandboxedWorkerFixture(worker_env, RunProcessor(tools), folder / "blobs", temporary)
        finally:
            tempfile.tempdir = usual
            await sandbox.close()
            await locks.close()
            await database.close()
            seed.close()
