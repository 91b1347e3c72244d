"""An interrupted run continues after the pages that were stored, and nothing of them remains afterwards."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import BinaryIO
from uuid import UUID

import pytest

from muniment.artifacts.keys import SharingScope, reading_variant
from muniment.errors import Unavailable
from muniment.processing.pipeline.context import RunServices
from muniment.processing.pipeline.processor import RunProcessor
from muniment.processing.readers.contract import ExtractedPage, ExtractionMethod, Paragraph, ReadingOptions
from muniment.processing.readers.errors import Unreadable, UnreadableCode
from muniment.processing.sandbox.client import OpenedFile
from muniment.processing.sandbox.parent.job import ReadingTimeUp
from muniment.storage.db.principal import Service
from muniment.storage.deletions.deleters import ObjectDeleter
from muniment.storage.deletions.ledger import Ledger, LedgerRepository
from muniment.storage.deletions.tables import LedgerStore
from muniment.storage.tasks.port import READING, GiveUpSlot
from muniment.storage.tasks.procrastinate.queue import ProcrastinateQueue
from tests.processing.worker_fixture import FixedReader, WorkerFixture, _Opened
from tests.support.effects import SimulatedCrash

TEXTS = ("First page.", "Second page.", "Third page.", "Last page.")
ERRORS: dict[str, BaseException | None] = {
    "kill": SimulatedCrash(),
    "stop": None,
    "outage": Unavailable("The store does not respond"),
    "unreadable": Unreadable(UnreadableCode.ENCRYPTED, "This file is damaged."),
}


def page(number: int) -> ExtractedPage:
    text = TEXTS[number - 1]
    return ExtractedPage(number, text, ExtractionMethod.OCR, paragraphs=(Paragraph(0, len(text)),), confidence=0.5)


@dataclass
class InterruptedReader(FixedReader):
    """Reads four pages. The first time, it fails before one of them, or waits there until the worker is stopped."""

    interrupted_at: int | None = 3
    cause: BaseException | None = None
    is_waiting: asyncio.Event = field(default_factory=asyncio.Event)
    read_pages: list[int] = field(default_factory=list)

    @asynccontextmanager
    async def read(
        self, file: BinaryIO, media_type: str, options: ReadingOptions, *, first_page: int = 1
    ) -> AsyncIterator[OpenedFile]:
        yield _Opened(len(TEXTS), self._read_from(first_page))

    async def _read_from(self, first_page: int) -> AsyncIterator[ExtractedPage]:
        for number in range(first_page, len(TEXTS) + 1):
            if number == self.interrupted_at:
                self.interrupted_at = None
                if self.cause is not None:
                    raise self.cause
                self.is_waiting.set()
                await asyncio.Event().wait()
            self.read_pages.append(number)
            yield page(number)


class PartialPagesEnv:
    """A worker that stores pages after each one, or only when it is stopped."""

    def __init__(self, worker_env: WorkerFixture, reader: InterruptedReader, interval: float) -> None:
        self.env, self.reader, self.interval = worker_env, reader, interval
        worker_env.reader = reader

    @property
    def services(self) -> RunServices:
        return replace(self.env.services, partial_results_interval=self.interval)

    async def run(self, document_id: UUID) -> None:
        """Process the run, and stop the worker if the reader waits for that."""
        run = asyncio.create_task(self._process(document_id))
        waiting = asyncio.create_task(self.reader.is_waiting.wait())
        await asyncio.wait({run, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if self.reader.is_waiting.is_set():
            self.reader.is_waiting.clear()
            run.cancel()
        waiting.cancel()
        with suppress(SimulatedCrash, asyncio.CancelledError, Unavailable):
            await run

    async def _process(self, document_id: UUID) -> None:
        await RunProcessor(self.services)(self.env.job(document_id, READING))

    async def list_parts(self) -> list[str]:
        return [info.key async for info in self.env.objects.list("artifacts/") if "/partial/" in info.key]

    async def sweep_ledger(self) -> None:
        deleters = {LedgerStore.OBJECTS: ObjectDeleter(self.env.objects)}
        for (organization_id,) in self.env.seed.rows("SELECT DISTINCT organization_id FROM documents"):
            await Ledger(self.env.database, deleters).process(organization_id)

    def texts(self, document_id: UUID) -> list[tuple[int, str]]:
        return self.env.seed.rows(
            """SELECT p.page_number, p.page_text_sha256 FROM documents d JOIN document_pages s ON s.document_id = d.id
                 JOIN artifact_pages p ON p.id = s.artifact_page_id WHERE d.id = %s ORDER BY 1""",
            document_id,
        )


def interrupted(worker_env: WorkerFixture, cause: str, *, interval: float = 0.0) -> PartialPagesEnv:
    return PartialPagesEnv(worker_env, InterruptedReader(cause=ERRORS[cause]), interval)


@pytest.mark.parametrize(("cause", "interval"), [("kill", 0.0), ("stop", 0.0), ("stop", 3600.0), ("outage", 3600.0)])
async def test_the_next_run_reads_only_missing_pages(worker_env: WorkerFixture, cause: str, interval: float) -> None:
    env = interrupted(worker_env, cause, interval=interval)
    document_id = await worker_env.document()
    await env.run(document_id)
    assert await env.list_parts()
    await env.run(document_id)
    assert worker_env.status(document_id) == "completed"
    assert env.reader.read_pages == [1, 2, 3, 4]
    uninterrupted = await worker_env.document(b"other bytes")
    await env.run(uninterrupted)
    assert env.texts(document_id) == env.texts(uninterrupted)
    assert len(env.texts(document_id)) == len(TEXTS)


class TurnOfPages:
    """Turn that is over after this many pages."""

    def __init__(self, pages: int) -> None:
        self.pages = pages

    async def is_over(self) -> bool:
        self.pages -= 1
        return self.pages <= 0


async def test_a_run_that_gives_up_its_slot_keeps_its_pages_and_counts_no_attempt(worker_env: WorkerFixture) -> None:
    reader = worker_env.reader = InterruptedReader(interrupted_at=None)
    document_id = await worker_env.document()
    job = replace(worker_env.job(document_id, READING), turn=TurnOfPages(pages=2))
    with pytest.raises(GiveUpSlot):
        await worker_env.worker()(job)
    assert reader.read_pages == [1, 2]
    assert worker_env.status(document_id) == "processing"
    assert worker_env.seed.rows("SELECT status, attempt - yields FROM document_processing_runs") == [("queued", 0)]
    await worker_env.worker()(worker_env.job(document_id, READING))
    assert reader.read_pages == [1, 2, 3, 4]
    assert worker_env.status(document_id) == "completed"
    assert worker_env.seed.rows("SELECT attempt - yields, failures FROM document_processing_runs") == [(1, 0)]


async def test_a_run_whose_time_is_up_continues_with_the_missing_pages(worker_env: WorkerFixture) -> None:
    reader = worker_env.reader = InterruptedReader(cause=ReadingTimeUp())
    document_id = await worker_env.document()
    with pytest.raises(GiveUpSlot):
        await worker_env.worker()(worker_env.job(document_id, READING))
    assert worker_env.status(document_id) == "processing"
    await worker_env.worker()(worker_env.job(document_id, READING))
    assert (worker_env.status(document_id), reader.read_pages) == ("completed", [1, 2, 3, 4])


async def test_a_turn_that_is_over_at_the_last_page_changes_nothing(worker_env: WorkerFixture) -> None:
    worker_env.reader = InterruptedReader(interrupted_at=None)
    document_id = await worker_env.document()
    await worker_env.worker()(replace(worker_env.job(document_id, READING), turn=TurnOfPages(pages=4)))
    assert worker_env.status(document_id) == "completed"


async def test_a_worker_that_dies_before_anything_is_stored_costs_all_pages(worker_env: WorkerFixture) -> None:
    env = interrupted(worker_env, "kill", interval=3600)
    document_id = await worker_env.document()
    await env.run(document_id)
    assert await env.list_parts() == []
    await env.run(document_id)
    assert env.reader.read_pages == [1, 2, 1, 2, 3, 4]


async def test_another_document_with_the_same_content_continues(worker_env: WorkerFixture) -> None:
    env = interrupted(worker_env, "kill")
    first, second = await worker_env.document(), await worker_env.document()
    await env.run(first)
    await env.run(second)
    assert worker_env.status(second) == "completed"
    assert env.reader.read_pages == [1, 2, 3, 4]


async def test_another_organization_continues_if_all_share_their_results(worker_env: WorkerFixture) -> None:
    worker_env.scope = SharingScope.SHARED
    env = interrupted(worker_env, "kill")
    await env.run(await worker_env.document())
    stranger = worker_env.seed.person()
    document_id = await worker_env.document(owner=stranger, kb_id=worker_env.seed.knowledge_base(stranger))
    await env.run(document_id)
    assert worker_env.status(document_id) == "completed"
    assert env.reader.read_pages == [1, 2, 3, 4]


async def test_nothing_is_left_when_the_document_is_completed(worker_env: WorkerFixture) -> None:
    env = interrupted(worker_env, "kill")
    document_id = await worker_env.document()
    await env.run(document_id)
    await env.sweep_ledger()
    assert len(await env.list_parts()) == 2  # they are reserved for a day
    await env.run(document_id)
    await env.sweep_ledger()
    assert await env.list_parts() == []


async def test_nothing_is_left_when_the_document_is_completed_with_other_options(worker_env: WorkerFixture) -> None:
    env = interrupted(worker_env, "kill")
    document_id = await worker_env.document()
    await env.run(document_id)
    worker_env.reading = reading_variant({"of": "the next version"})
    await env.run(document_id)
    assert worker_env.status(document_id) == "completed"
    assert env.reader.read_pages == [1, 2, 1, 2, 3, 4]
    await env.sweep_ledger()
    assert await env.list_parts() == []


async def test_nothing_is_left_when_another_organization_has_completed_the_content(worker_env: WorkerFixture) -> None:
    worker_env.scope = SharingScope.SHARED
    env = interrupted(worker_env, "kill")
    document_id = await worker_env.document()
    await env.run(document_id)
    stranger = worker_env.seed.person()
    await env.run(await worker_env.document(owner=stranger, kb_id=worker_env.seed.knowledge_base(stranger)))
    await env.run(document_id)
    assert worker_env.status(document_id) == "completed"
    await env.sweep_ledger()
    assert await env.list_parts() == []


async def test_nothing_is_left_when_the_run_fails(worker_env: WorkerFixture) -> None:
    env = interrupted(worker_env, "unreadable")
    document_id = await worker_env.document()
    await env.run(document_id)
    assert worker_env.status(document_id) == "failed"
    await env.sweep_ledger()
    assert await env.list_parts() == []


async def test_nothing_is_left_when_the_waiting_run_is_cancelled(worker_env: WorkerFixture) -> None:
    env = interrupted(worker_env, "stop")
    document_id = await worker_env.document()
    await env.run(document_id)
    assert await env.list_parts()
    async with worker_env.database.work(worker_env.owner.principal) as work:
        assert await ProcrastinateQueue().revoke_run(work, document_id, 1)
    await env.sweep_ledger()
    assert await env.list_parts() == []


async def test_a_purge_finds_the_parts_of_its_document(worker_env: WorkerFixture) -> None:
    env = interrupted(worker_env, "stop")
    document_id = await worker_env.document()
    await env.run(document_id)
    worker_env.seed.execute("DELETE FROM documents WHERE id = %s", document_id)
    async with worker_env.database.service_work(Service(worker_env.owner.organization_id)) as work:
        reserved = await LedgerRepository(work.session).list_reservations([document_id])
    assert {key for _, key in reserved} >= set(await env.list_parts())


@pytest.mark.parametrize("damage", ["missing", "damaged"])
async def test_a_part_that_cannot_be_used_is_read_again(worker_env: WorkerFixture, damage: str) -> None:
    env = interrupted(worker_env, "kill")
    document_id = await worker_env.document()
    await env.run(document_id)
    _, second = sorted(await env.list_parts())
    await (worker_env.objects.delete(second) if damage == "missing" else worker_env.objects.put(second, b"?"))
    await env.run(document_id)
    assert worker_env.status(document_id) == "completed"
    assert env.reader.read_pages == [1, 2, 2, 3, 4]
