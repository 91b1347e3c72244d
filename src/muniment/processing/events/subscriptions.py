"""Subscriptions to document changes: one database listener per process feeds every open stream."""

import asyncio
from contextlib import suppress
from uuid import UUID

from muniment.errors import TooManyRequests, Unavailable
from muniment.processing.runs.repository import DOCUMENT_CHANGES_CHANNEL
from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.notifications import listen

MAX_STREAMS_PER_USER = 20
RETRY_AFTER_SECONDS = 10
MAX_PENDING_CHANGES = 1000
"""Changes buffered for a slow client; beyond that it gets all unfinished documents instead."""
LISTEN_TIMEOUT_SECONDS = 2.0


class TooManyStreams(TooManyRequests):
    """Too many event streams are open for this account. Close a tab"""

    def __init__(self) -> None:
        super().__init__(retry_after_seconds=RETRY_AFTER_SECONDS)


class StreamsClosed(Unavailable):
    """Muniment is restarting. Try again shortly"""

    code = "ShuttingDown"


class Subscription:
    """Changes that one stream has not loaded yet: ids of documents, or everything after a gap."""

    def __init__(self, user_id: UUID) -> None:
        self.user_id = user_id
        self._changed: set[UUID] = set()
        self._has_gap = True  # so that the stream begins with a snapshot
        self._wake_up = asyncio.Event()
        self._closed = asyncio.Event()

    @property
    def is_closed(self) -> bool:
        return self._closed.is_set()

    def mark_changed(self, *document_ids: UUID) -> None:
        self._changed.update(document_ids)
        if len(self._changed) > MAX_PENDING_CHANGES:
            self._changed.clear()
            self._has_gap = True
        self._wake_up.set()

    def mark_gap(self) -> None:
        self._has_gap = True
        self._wake_up.set()

    def take_changes(self) -> tuple[set[UUID], bool]:
        """Take the changed ids and whether there was a gap. Changes announced after this call count again."""
        taken = self._changed, self._has_gap
        self._changed, self._has_gap = set(), False
        self._wake_up.clear()
        return taken

    def close(self) -> None:
        self._closed.set()
        self._wake_up.set()

    async def wait(self, seconds: float) -> None:
        """Wait for a change, at most this many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake_up.wait()

    async def pause(self, seconds: float) -> None:
        """Sleep regardless of changes, but no longer than the stream is open."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._closed.wait()


class ChangeListener:
    """Listens on one connection, opened with the first stream and kept until `close`."""

    def __init__(self, login: DatabaseAddress, *, max_streams_per_user: int = MAX_STREAMS_PER_USER) -> None:
        self._login = login
        self._streams_per_user = max_streams_per_user
        self._subscriptions: set[Subscription] = set()
        self._listener: asyncio.Task[None] | None = None
        self._is_listening = asyncio.Event()
        self._is_closed = False

    def subscribe(self, user_id: UUID) -> Subscription:
        """Subscribe a user, or raise `TooManyStreams`. End the subscription with `unsubscribe`."""
        if self._is_closed:
            raise StreamsClosed
        if sum(other.user_id == user_id for other in self._subscriptions) >= self._streams_per_user:
            raise TooManyStreams
        if self._listener is None or self._listener.done():
            listening = listen(
                self._login, DOCUMENT_CHANGES_CHANNEL, on_connected=self._on_listening, on_payload=self._on_notification
            )
            self._listener = asyncio.create_task(listening)
        subscription = Subscription(user_id)
        self._subscriptions.add(subscription)
        return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        self._subscriptions.discard(subscription)

    async def wait_until_listening(self) -> None:
        """Wait until the listener is connected, for a limited time; an early stream gets a gap later."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LISTEN_TIMEOUT_SECONDS):
                await self._is_listening.wait()

    async def close(self) -> None:
        """Close every stream and refuse new ones."""
        self._is_closed = True
        for subscription in self._subscriptions:
            subscription.close()
        if self._listener is not None:
            self._listener.cancel()
            await asyncio.gather(self._listener, return_exceptions=True)

    def _on_listening(self) -> None:
        self._is_listening.set()
        for subscription in self._subscriptions:
            subscription.mark_gap()

    def _on_notification(self, payload: str) -> None:
        try:
            document_id = UUID(payload)
        except ValueError:
            return  # any client of the database can send a notification
        for subscription in self._subscriptions:
            subscription.mark_changed(document_id)
