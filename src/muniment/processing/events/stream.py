"""What one browser tab is told. Every event is read from the tables on behalf of the caller, at that moment."""

import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from muniment.errors import NotSignedIn, Unavailable
from muniment.processing.events.repository import DocumentProgress, ProgressRepository
from muniment.processing.events.subscriptions import Changes, Subscription
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Database

COLLECT_SECONDS = 0.25
BEAT_SECONDS = 10.0
"""How long a session that has ended, or a right that was taken away without a word, can go unnoticed."""
RETRY_SECONDS = 1.0
MAX_IN_SNAPSHOT = 500
MAX_REMEMBERED = 10_000

Identify = Callable[[], Awaitable[Principal]]
"""Who asks, now: raises `NotSignedIn` when nobody does any more."""


@dataclass(frozen=True)
class Changed:
    document: DocumentProgress


@dataclass(frozen=True)
class Gone:
    """Told of before, and not there any more, or not for this caller."""

    document_id: UUID


@dataclass(frozen=True)
class Snapshot:
    """All that is unfinished. What a client knows as unfinished and does not find here has moved on."""

    documents: Sequence[DocumentProgress]
    truncated: bool


@dataclass(frozen=True)
class Beat:
    """Nothing new, and still there."""


Event = Changed | Gone | Snapshot | Beat


class Streams:
    """Opens streams, and ends them all at once."""

    def __init__(self, database: Database, changes: Changes, *, beat_seconds: float = BEAT_SECONDS) -> None:
        self._database = database
        self._changes = changes
        self._beat_seconds = beat_seconds

    def open(self, principal: Principal, identify: Identify) -> "Stream":
        """Raises `TooManyStreams`."""
        subscription = self._changes.subscribe(principal.user_id)
        return Stream(self._database, self._changes, subscription, principal, identify, beat_seconds=self._beat_seconds)

    async def close(self) -> None:
        await self._changes.close()


class Stream:
    def __init__(
        self,
        database: Database,
        changes: Changes,
        subscription: Subscription,
        principal: Principal,
        identify: Identify,
        *,
        beat_seconds: float,
    ) -> None:
        self._database = database
        self._changes = changes
        self._subscription = subscription
        self._principal = principal
        self._identify = identify
        self._beat_seconds = beat_seconds
        self._beat_at = time.monotonic() + beat_seconds
        self._told = Told()

    def end(self) -> None:
        """From outside: the reader has left. The events stop soon."""
        self._subscription.end()
        self._changes.unsubscribe(self._subscription)

    async def events(self) -> AsyncGenerator[Event]:
        """Until somebody ends it, or the caller is no longer signed in."""
        subscription = self._subscription
        await self._changes.until_listening()
        while not subscription.is_over:
            try:
                for event in await self._news():
                    yield event
            except NotSignedIn:
                return
            except Unavailable:
                # The reader keeps its stream: a browser would not open another after an error.
                yield Beat()
                await subscription.pause(RETRY_SECONDS)
            await subscription.wait(max(0.0, self._beat_at - time.monotonic()))
            await subscription.pause(COLLECT_SECONDS)

    async def _news(self) -> Sequence[Event]:
        is_due = time.monotonic() >= self._beat_at
        if is_due:
            self._principal = await self._identify()
        changed, has_gap = self._subscription.take()
        try:
            news: list[Event] = [*await self._look_at(changed)]
            if has_gap or is_due:
                news += await self._moved_unsaid()
            if has_gap:
                news.append(await self._snapshot())
        except Unavailable:
            self._subscription.note(*changed)
            if has_gap:
                self._subscription.note_gap()
            raise
        if is_due:
            self._beat_at = time.monotonic() + self._beat_seconds
        return news or ([Beat()] if is_due else [])

    async def _snapshot(self) -> Snapshot:
        async with self._database.work(self._principal) as work:
            found, more = await ProgressRepository(work.session).list_unfinished(limit=MAX_IN_SNAPSHOT)
        for document in found:
            self._told.note(document)
        return Snapshot(found, truncated=more)

    async def _moved_unsaid(self) -> Sequence[Event]:
        """What moved on or went out of sight although nobody said so: in a gap, or with a right that was taken away."""
        before = self._told.unfinished()
        return [
            event
            for event in await self._look_at(before.keys())
            if isinstance(event, Gone) or event.document != before[event.document.document_id]
        ]

    async def _look_at(self, document_ids: Collection[UUID]) -> Sequence[Changed | Gone]:
        if not document_ids:
            return []
        async with self._database.work(self._principal) as work:
            seen = {found.document_id: found for found in await ProgressRepository(work.session).list_of(document_ids)}
        for found in seen.values():
            self._told.note(found)
        gone = [
            document_id for document_id in document_ids if document_id not in seen and self._told.forget(document_id)
        ]
        return [*map(Changed, seen.values()), *map(Gone, gone)]


class Told:
    """What the reader knows. Of finished documents only that it does; the oldest are forgotten."""

    def __init__(self) -> None:
        self._last: OrderedDict[UUID, DocumentProgress | None] = OrderedDict()

    def note(self, document: DocumentProgress) -> None:
        self._last[document.document_id] = document if document.is_unfinished else None
        self._last.move_to_end(document.document_id)
        if len(self._last) > MAX_REMEMBERED:
            self._last.popitem(last=False)

    def forget(self, document_id: UUID) -> bool:
        """Whether it was known."""
        known = document_id in self._last
        self._last.pop(document_id, None)
        return known

    def unfinished(self) -> dict[UUID, DocumentProgress]:
        return {document_id: last for document_id, last in self._last.items() if last is not None}
