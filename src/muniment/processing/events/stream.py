"""The event stream of one client. Every event is read from the tables on behalf of the caller, at that moment."""

import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from muniment.errors import NotSignedIn, Unavailable
from muniment.processing.events.repository import DocumentProgress, ProgressRepository
from muniment.processing.events.subscriptions import ChangeListener, Subscription
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Database

BATCH_WINDOW_SECONDS = 0.25
HEARTBEAT_SECONDS = 10.0
"""Longest time until a session that ended, or access that was revoked without a notification, is noticed."""
RETRY_SECONDS = 1.0
MAX_IN_SNAPSHOT = 500
MAX_REMEMBERED_DOCUMENTS = 10_000

Authenticate = Callable[[], Awaitable[Principal]]
"""Authenticates the caller again. Raises `NotSignedIn` once the session has ended."""


@dataclass(frozen=True)
class DocumentChanged:
    document: DocumentProgress


@dataclass(frozen=True)
class DocumentGone:
    """A document that was announced before and no longer exists or is no longer visible to the caller."""

    document_id: UUID


@dataclass(frozen=True)
class ProgressSnapshot:
    """All unfinished documents. Any other document that the client has as unfinished is finished or gone."""

    documents: Sequence[DocumentProgress]
    truncated: bool


@dataclass(frozen=True)
class Heartbeat:
    """Sign that the stream is alive although nothing changed."""


StreamEvent = DocumentChanged | DocumentGone | ProgressSnapshot | Heartbeat


class EventStreams:
    """Opens event streams and closes them all on shutdown."""

    def __init__(
        self, database: Database, listener: ChangeListener, *, heartbeat_seconds: float = HEARTBEAT_SECONDS
    ) -> None:
        self._database = database
        self._listener = listener
        self._heartbeat_seconds = heartbeat_seconds

    def open(self, principal: Principal, authenticate: Authenticate) -> "DocumentEventStream":
        """Open a stream for a user, or raise `TooManyStreams`."""
        subscription = self._listener.subscribe(principal.user_id)
        return DocumentEventStream(
            self._database,
            self._listener,
            subscription,
            principal,
            authenticate,
            heartbeat_seconds=self._heartbeat_seconds,
        )

    async def close(self) -> None:
        await self._listener.close()


class DocumentEventStream:
    def __init__(
        self,
        database: Database,
        listener: ChangeListener,
        subscription: Subscription,
        principal: Principal,
        authenticate: Authenticate,
        *,
        heartbeat_seconds: float,
    ) -> None:
        self._database = database
        self._listener = listener
        self._subscription = subscription
        self._principal = principal
        self._authenticate = authenticate
        self._heartbeat_seconds = heartbeat_seconds
        self._heartbeat_at = time.monotonic() + heartbeat_seconds
        self._sent = SentState()

    def close(self) -> None:
        """End the stream because its reader has left."""
        self._subscription.close()
        self._listener.unsubscribe(self._subscription)

    async def events(self) -> AsyncGenerator[StreamEvent]:
        """Yield events until the stream is closed or the caller is no longer signed in."""
        subscription = self._subscription
        await self._listener.wait_until_listening()
        while not subscription.is_closed:
            try:
                for event in await self._next_events():
                    yield event
            except NotSignedIn:
                return
            except Unavailable:
                # The reader keeps its stream: a browser would not open another after an error.
                yield Heartbeat()
                await subscription.pause(RETRY_SECONDS)
            await subscription.wait(max(0.0, self._heartbeat_at - time.monotonic()))
            await subscription.pause(BATCH_WINDOW_SECONDS)

    async def _next_events(self) -> Sequence[StreamEvent]:
        is_due = time.monotonic() >= self._heartbeat_at
        if is_due:
            self._principal = await self._authenticate()
        changed, has_gap = self._subscription.take_changes()
        try:
            events: list[StreamEvent] = [*await self._load_changes(changed)]
            if has_gap or is_due:
                events += await self._find_unannounced_changes()
            if has_gap:
                events.append(await self._snapshot())
        except Unavailable:
            self._subscription.mark_changed(*changed)
            if has_gap:
                self._subscription.mark_gap()
            raise
        if is_due:
            self._heartbeat_at = time.monotonic() + self._heartbeat_seconds
        return events or ([Heartbeat()] if is_due else [])

    async def _snapshot(self) -> ProgressSnapshot:
        async with self._database.work(self._principal) as work:
            found, more = await ProgressRepository(work.session).list_unfinished(limit=MAX_IN_SNAPSHOT)
        for document in found:
            self._sent.remember(document)
        return ProgressSnapshot(found, truncated=more)

    async def _find_unannounced_changes(self) -> Sequence[StreamEvent]:
        """Return documents that changed or became invisible without a notification: in a gap, or by a revoked role."""
        before = self._sent.unfinished_ids()
        return [
            event
            for event in await self._load_changes(before.keys())
            if isinstance(event, DocumentGone) or event.document != before[event.document.document_id]
        ]

    async def _load_changes(self, document_ids: Collection[UUID]) -> Sequence[DocumentChanged | DocumentGone]:
        if not document_ids:
            return []
        async with self._database.work(self._principal) as work:
            seen = {
                found.document_id: found
                for found in await ProgressRepository(work.session).list_documents(document_ids)
            }
        for found in seen.values():
            self._sent.remember(found)
        gone = [
            document_id for document_id in document_ids if document_id not in seen and self._sent.forget(document_id)
        ]
        return [*map(DocumentChanged, seen.values()), *map(DocumentGone, gone)]


class SentState:
    """The documents that the client was sent. Of finished documents only ids are stored, and the oldest are dropped."""

    def __init__(self) -> None:
        self._last: OrderedDict[UUID, DocumentProgress | None] = OrderedDict()

    def remember(self, document: DocumentProgress) -> None:
        self._last[document.document_id] = document if document.is_unfinished else None
        self._last.move_to_end(document.document_id)
        if len(self._last) > MAX_REMEMBERED_DOCUMENTS:
            self._last.popitem(last=False)

    def forget(self, document_id: UUID) -> bool:
        """Forget a document and return whether it was known."""
        known = document_id in self._last
        self._last.pop(document_id, None)
        return known

    def unfinished_ids(self) -> dict[UUID, DocumentProgress]:
        return {document_id: last for document_id, last in self._last.items() if last is not None}
