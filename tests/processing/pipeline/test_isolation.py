"""A suspect has its worker for itself, and neither it nor the others wait longer than for a page."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import BinaryIO
from uuid import UUID

import pytest

from muniment.processing.pipeline import isolation
from muniment.processing.pipeline.isolation import IsolationGate
from muniment.processing.pipeline.processor import RunProcessor
from muniment.processing.readers.contract import ExtractedPage, ReadingOptions
from muniment.processing.sandbox.client import OpenedFile
from muniment.storage.tasks.port import GiveUpSlot, RetryLater
from tests.processing.pipeline.test_crashes import die
from tests.processing.worker_fixture import PAGES, FixedReader, WorkerFixture, _Opened
from tests.support.jobs import wait_until


class Visitors:
    """Runs at a gate. Each stays inside until the test lets it leave."""

    def __init__(self) -> None:
        self.gate = IsolationGate()
        self.inside: list[str] = []
        self._may_leave: dict[str, asyncio.Event] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def ordinary(self, name: str) -> None:
        await self._arrive(name, self.gate.ordinary())

    async def isolated(self, name: str) -> None:
        await self._arrive(name, self.gate.isolated())

    async def _arrive(self, name: str, admission: AbstractAsyncContextManager[object]) -> None:
        self._may_leave[name] = asyncio.Event()
        self._tasks[name] = asyncio.create_task(self._visit(name, admission))
        await asyncio.sleep(0.01)

    async def _visit(self, name: str, admission: AbstractAsyncContextManager[object]) -> None:
        async with admission:
            self.inside.append(name)
            await self._may_leave[name].wait()
            self.inside.remove(name)

    async def leave(self, name: str) -> None:
        self._may_leave[name].set()
        await self._tasks[name]
        await asyncio.sleep(0.01)

    async def give_up(self, name: str) -> None:
        self._tasks[name].cancel()
        await asyncio.wait([self._tasks[name]])
        await asyncio.sleep(0.01)


async def test_those_who_waited_for_an_isolated_run_go_before_the_next_one() -> None:
    visitors = Visitors()
    await visitors.isolated("first suspect")
    await visitors.isolated("second suspect")
    for name in ("note", "letter"):
        await visitors.ordinary(name)
    assert visitors.inside == ["first suspect"]
    await visitors.leave("first suspect")
    assert visitors.inside == ["note", "letter"]
    await visitors.ordinary("late")
    for name in ("note", "letter"):
        await visitors.leave(name)
    assert visitors.inside == ["second suspect"]
    await visitors.leave("second suspect")
    assert visitors.inside == ["late"]


async def test_a_run_that_no_longer_waits_holds_up_nobody() -> None:
    visitors = Visitors()
    await visitors.isolated("first suspect")
    await visitors.ordinary("note")
    await visitors.isolated("second suspect")
    await visitors.give_up("note")
    await visitors.leave("first suspect")
    assert visitors.inside == ["second suspect"]
    await visitors.ordinary("letter")
    await visitors.isolated("third suspect")
    await visitors.give_up("third suspect")
    await visitors.leave("second suspect")
    assert visitors.inside == ["letter"]


class SteppedReader(FixedReader):
    """Returns a page of a file when the test allows it."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: dict[bytes, asyncio.Semaphore] = {}

    @asynccontextmanager
    async def read(
        self, file: BinaryIO, media_type: str, options: ReadingOptions, *, first_page: int = 1
    ) -> AsyncIterator[OpenedFile]:
        content = file.read()
        file.seek(0)
        yield _Opened(len(PAGES), self._read(self.steps.setdefault(content, asyncio.Semaphore(0)), first_page))

    async def _read(self, steps: asyncio.Semaphore, first_page: int) -> AsyncIterator[ExtractedPage]:
        for page in PAGES[first_page - 1 :]:
            await steps.acquire()
            yield page


def start(worker_env: WorkerFixture, worker: RunProcessor, document_id: UUID) -> asyncio.Task[None]:
    return asyncio.create_task(worker(worker_env.job(document_id)))


@pytest.mark.parametrize("is_suspect_first", [True, False])
async def test_a_suspect_and_the_others_make_way_for_each_other_between_pages(
    worker_env: WorkerFixture, monkeypatch: pytest.MonkeyPatch, is_suspect_first: bool
) -> None:
    monkeypatch.setattr(isolation, "TURN_SECONDS", 0)
    suspect, other = await worker_env.document(b"suspect"), await worker_env.document(b"other")
    for _ in range(2):
        await die(worker_env, suspect)
    reader = worker_env.reader = SteppedReader()
    worker = worker_env.worker()
    first, second = (suspect, other) if is_suspect_first else (other, suspect)
    contents = {suspect: b"suspect", other: b"other"}
    holder = start(worker_env, worker, first)
    await wait_until(lambda: contents[first] in reader.steps)
    waiting = start(worker_env, worker, second)
    await asyncio.sleep(0.1)
    assert list(reader.steps) == [contents[first]]
    reader.steps[contents[first]].release()
    with pytest.raises(GiveUpSlot):
        await holder
    await wait_until(lambda: contents[second] in reader.steps)
    for content in contents.values():
        reader.steps[content].release()
        reader.steps[content].release()
    await waiting
    await worker(worker_env.job(first))
    assert {worker_env.status(document_id) for document_id in (suspect, other)} == {"completed"}
    assert worker_env.seed.one("SELECT count(*) FROM task_workers WHERE is_isolating") == 0


async def test_a_suspect_keeps_its_worker_while_nobody_waits(
    worker_env: WorkerFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isolation, "TURN_SECONDS", 0)
    suspect = await worker_env.document()
    for _ in range(2):
        await die(worker_env, suspect)
    await worker_env.worker()(worker_env.job(suspect))
    assert worker_env.status(suspect) == "completed"


async def test_a_run_that_waited_long_goes_back_to_the_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "HOLD_SECONDS", 0)
    visitors = Visitors()
    await visitors.isolated("suspect")
    with pytest.raises(RetryLater):
        async with visitors.gate.ordinary():
            pass
    await visitors.leave("suspect")


async def test_a_suspect_that_waits_long_for_another_one_goes_back_to_the_queue(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(isolation, "HOLD_SECONDS", 0.05)
    visitors = Visitors()
    await visitors.ordinary("letter")
    await visitors.isolated("first suspect")
    await asyncio.sleep(0.1)  # the first one goes on waiting, or it would never have its worker for itself
    await visitors.leave("letter")
    assert visitors.inside == ["first suspect"]
    with pytest.raises(RetryLater):
        async with asyncio.timeout(10), visitors.gate.isolated():
            pass
    await visitors.leave("first suspect")
    await visitors.isolated("second suspect")
    assert visitors.inside == ["second suspect"]
