"""The external effects of a request, one by one, and the faults that each of them can have."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Any, TypeVar

import psycopg
from sqlalchemy import Connection, event
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.util.concurrency import await_only

from tests.support.effects import SimulatedCrash

T = TypeVar("T")


class Fault(StrEnum):
    FAILS = "fails"
    HANGS = "hangs"
    """Until the caller's timeout."""
    GETS_NO_ANSWER = "gets no answer"
    """It is executed, but the caller gets no answer."""
    IS_THE_LAST = "is the last"
    """The process crashes before it. Nothing in the source catches that."""


class Part(StrEnum):
    STATEMENT = "statement"
    """Inside a transaction: the commit decides about its outcome."""
    CALL = "call"
    """A statement with autocommit."""
    COMMIT = "commit"
    OBJECTS = "objects"
    INDEX = "index"


# A statement inside a transaction that gets no answer has failed: its connection and the transaction are gone. A commit
# that hangs either fails or gets no answer. An object store reports the same error when it fails and when it hangs.
FAULTS = {
    Part.STATEMENT: (Fault.FAILS, Fault.HANGS, Fault.IS_THE_LAST),
    Part.CALL: tuple(Fault),
    Part.COMMIT: (Fault.FAILS, Fault.GETS_NO_ANSWER, Fault.IS_THE_LAST),
    Part.OBJECTS: (Fault.FAILS, Fault.GETS_NO_ANSWER, Fault.IS_THE_LAST),
    Part.INDEX: tuple(Fault),
}
CANCELLED_BY_THE_SERVER = """
    DO $$ BEGIN RAISE query_canceled USING MESSAGE = 'canceling statement due to statement timeout'; END $$
"""
COMMIT = "commit"
BROKEN = "server closed the connection unexpectedly"


class Faults:
    """Counts the effects and applies a fault to the one with number `at`."""

    def __init__(self, at: int | None = None, fault: Fault = Fault.FAILS) -> None:
        self.reached: list[tuple[Part, str]] = []
        self.struck: tuple[Part, Fault] | None = None
        self._at, self._fault = at, fault
        self._unanswered: set[int] = set()

    def meet(self, part: Part, what: str) -> Fault | None:
        """Return the fault of this effect. After a crash every further effect raises, so that nothing is cleaned up."""
        number = len(self.reached)
        self.reached.append((part, what))
        if self._at is None or number < self._at:
            return None
        if number == self._at:
            self.struck = (part, self._fault)
        if self._fault is Fault.IS_THE_LAST:
            raise SimulatedCrash
        return self._fault if number == self._at else None

    @property
    def has_committed(self) -> bool:
        """Return whether a commit came before the fault."""
        return (Part.COMMIT, COMMIT) in self.reached[: self._at]

    async def arrive(self, part: Part, what: str) -> Fault | None:
        """Like `meet`, for an effect that is not a statement."""
        return self.meet(part, what)

    async def outside(
        self, part: Part, what: str, call: Callable[[], Awaitable[T]], broken: BaseException, late: BaseException
    ) -> T:
        """Call another store, raising `broken` when it fails and `late` when it times out."""
        fault = await self.arrive(part, what)
        if fault is Fault.FAILS:
            raise broken
        if fault is Fault.HANGS:
            raise late
        answer = await call()
        if fault is Fault.GETS_NO_ANSWER:
            raise late
        return answer

    @contextmanager
    def watch(self, *engines: AsyncEngine) -> Iterator[None]:
        """Watch every statement and commit of these engines."""
        listeners: list[tuple[Any, str, Callable[..., None]]] = []
        for engine in engines:
            listeners += [
                (engine.sync_engine, "before_cursor_execute", self._before),
                (engine.sync_engine, "after_cursor_execute", self._after),
                (engine.sync_engine, "commit", self._commit),
            ]
        for listener in listeners:
            event.listen(*listener)
        try:
            yield
        finally:
            for listener in listeners:
                event.remove(*listener)

    def _before(self, connection: Connection, cursor: Any, statement: str, *_rest: Any) -> None:
        part = Part.STATEMENT if is_in_transaction(connection) or statement.startswith("BEGIN") else Part.CALL
        fault = self.meet(part, " ".join(statement.split()))
        if fault is Fault.FAILS:
            _break(connection)
        elif fault is Fault.HANGS:
            cursor.execute(CANCELLED_BY_THE_SERVER)
        elif fault is Fault.GETS_NO_ANSWER:
            self._unanswered.add(id(cursor))

    def _after(self, connection: Connection, cursor: Any, *_rest: Any) -> None:
        if id(cursor) in self._unanswered:
            self._unanswered.discard(id(cursor))
            _break(connection)

    def _commit(self, connection: Connection) -> None:
        if not is_in_transaction(connection):
            return
        fault = self.meet(Part.COMMIT, COMMIT)
        if fault is Fault.GETS_NO_ANSWER:
            await_only(_driver(connection).commit())
        if fault is not None:
            # The driver itself decides what the pending commit raises.
            _driver(connection).pgconn.finish()


def is_in_transaction(connection: Connection) -> bool:
    """Return whether the server has an open transaction. The driver never opens one implicitly."""
    return _driver(connection).info.transaction_status is not psycopg.pq.TransactionStatus.IDLE


def _break(connection: Connection) -> None:
    _driver(connection).pgconn.finish()
    raise psycopg.OperationalError(BROKEN)


def _driver(connection: Connection) -> psycopg.AsyncConnection[Any]:
    driver: psycopg.AsyncConnection[Any] = connection.connection.driver_connection  # type: ignore[assignment]
    return driver
