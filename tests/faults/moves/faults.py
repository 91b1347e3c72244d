"""What a request does to the world outside, one by one, and what can go wrong with each of it."""

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
    """Until whoever waits has had enough."""
    GETS_NO_ANSWER = "gets no answer"
    """It is done, and nobody hears of it."""
    IS_THE_LAST = "is the last"
    """The process dies before it; nothing in the source catches that."""


class Part(StrEnum):
    STATEMENT = "statement"
    """Inside a transaction: what comes of it is decided by the commit."""
    CALL = "call"
    """A statement that counts at once."""
    COMMIT = "commit"
    OBJECTS = "objects"
    INDEX = "index"


# A statement of a transaction without an answer is one that failed: the connection is gone, and all of it with it. A
# commit that hangs has failed or gets no answer. A store of objects says the same when it fails and when it hangs.
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
    """Counts the effects, and lets the one of number `at` go wrong."""

    def __init__(self, at: int | None = None, fault: Fault = Fault.FAILS) -> None:
        self.reached: list[tuple[Part, str]] = []
        self.struck: tuple[Part, Fault] | None = None
        self._at, self._fault = at, fault
        self._unanswered: set[int] = set()

    def meet(self, part: Part, what: str) -> Fault | None:
        """What becomes of this one. `Death` by and after the last: the dead do not clear up either."""
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
        """Before it went wrong."""
        return (Part.COMMIT, COMMIT) in self.reached[: self._at]

    async def arrive(self, part: Part, what: str) -> Fault | None:
        """The same where no statement is on its way."""
        return self.meet(part, what)

    async def outside(
        self, part: Part, what: str, call: Callable[[], Awaitable[T]], broken: BaseException, late: BaseException
    ) -> T:
        """A call of another store, which says `broken` when it fails and `late` when it does not answer in time."""
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
        """Every statement and commit of these."""
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
            # What the driver says to the commit that comes now is its own.
            _driver(connection).pgconn.finish()


def is_in_transaction(connection: Connection) -> bool:
    """As the server sees it: the driver begins none by itself."""
    return _driver(connection).info.transaction_status is not psycopg.pq.TransactionStatus.IDLE


def _break(connection: Connection) -> None:
    _driver(connection).pgconn.finish()
    raise psycopg.OperationalError(BROKEN)


def _driver(connection: Connection) -> psycopg.AsyncConnection[Any]:
    driver: psycopg.AsyncConnection[Any] = connection.connection.driver_connection  # type: ignore[assignment]
    return driver
