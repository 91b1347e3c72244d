"""Record every external effect of a run, to crash or pause the worker at any of them."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO

from langgraph.config import get_config
from sqlalchemy import event
from sqlalchemy.orm import Session
from sqlalchemy.util.concurrency import greenlet_spawn

from muniment.processing.readers.contract import ExtractedPage, ReadingOptions
from muniment.processing.sandbox.client import FileReader, OpenedFile
from muniment.storage.db.advisory_locks import AdvisoryLocks
from muniment.storage.db.work import Database, PrincipalSession
from muniment.storage.objects.folder.store import FolderObjectStore
from muniment.storage.tasks.port import FAST
from tests.support.effects import EffectRecorder, SimulatedCrash

COMMIT, COMMITTED, PUT, STORED, OPEN, LAST_PAGE = "commit", "committed", "put", "stored", "open", "last page"
PRINCIPAL = "BEGIN; SELECT set_config("
"""The start of every transaction."""
ERROR_HANDLING, _LANGGRAPHS_NAME_FOR_IT = "ErrorHandling", "__default_error_handler__"


@dataclass(frozen=True)
class Effect:
    place: str
    """The node, or the queue of the job before the first node."""
    what: str
    """A statement that is about to be sent, or one of the constants above."""


Act = Callable[[int, Effect], None]


def do_nothing(_number: int, _effect: Effect) -> None:
    pass


def die_at(number: int) -> Act:
    def act(reached: int, _effect: Effect) -> None:
        # A dead process does nothing more: no clean-up either.
        if reached >= number:
            raise SimulatedCrash

    return act


class RunEffectRecorder(EffectRecorder[Effect, None]):
    """Records each effect of a run just before it happens; commits and stored objects also just after."""

    def __init__(self, act: Act = do_nothing) -> None:
        super().__init__(act)
        self.queue = FAST

    def reach(self, what: str) -> None:
        self.add(Effect(_node() or self.queue, what))

    async def meet(self, what: str) -> None:
        """Like `reach`, for an effect that is not a statement: in a greenlet, so that it can be paused."""
        await greenlet_spawn(self.reach, what)

    @contextmanager
    def watch(self, database: Database, locks: AdvisoryLocks) -> Iterator[None]:
        engine = database.service_engine.sync_engine
        listeners: list[tuple[Any, str, Callable[..., None]]] = [
            (engine, "before_cursor_execute", self._statement),
            (locks._engine.sync_engine, "before_cursor_execute", self._statement),
            (engine, "commit", self._commit),
            (PrincipalSession, "after_commit", partial(self._committed, engine)),
        ]
        for listener in listeners:
            event.listen(*listener)
        try:
            yield
        finally:
            for listener in listeners:
                event.remove(*listener)

    def _statement(self, _connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        self.reach(" ".join(statement.split()))

    def _commit(self, _connection: Any) -> None:
        self.reach(COMMIT)

    def _committed(self, engine: Any, session: Session) -> None:
        if session.get_bind() is engine:
            self.reach(COMMITTED)


def _node() -> str | None:
    try:
        node: str = get_config()["metadata"]["langgraph_node"]
    except RuntimeError:
        return None
    return ERROR_HANDLING if node == _LANGGRAPHS_NAME_FOR_IT else node


class RecordingObjectStore(FolderObjectStore):
    effects = RunEffectRecorder()

    async def put(self, key: str, data: bytes) -> None:
        await self.effects.meet(PUT)
        await super().put(key, data)
        await self.effects.meet(STORED)


@dataclass
class _Opened:
    total_pages: int
    pages: AsyncIterator[ExtractedPage]


@dataclass
class RecordingReader:
    reader: FileReader
    effects: RunEffectRecorder

    @asynccontextmanager
    async def read(
        self, file: BinaryIO, media_type: str, options: ReadingOptions, *, first_page: int = 1
    ) -> AsyncIterator[OpenedFile]:
        await self.effects.meet(OPEN)
        async with self.reader.read(file, media_type, options, first_page=first_page) as reading:
            yield _Opened(reading.total_pages, self._each(reading))

    async def _each(self, reading: OpenedFile) -> AsyncIterator[ExtractedPage]:
        async for page in reading.pages:
            await self.effects.meet(f"page {page.number}")
            yield page
        await self.effects.meet(LAST_PAGE)
