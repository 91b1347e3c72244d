"""No event is lost while a stream starts, while it queries, or while the database is unavailable."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from uuid import UUID

import pytest

from muniment.processing.events.subscriptions import MAX_PENDING_CHANGES, Subscription
from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.base import new_id
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Database, DatabaseUnavailable, Work
from tests.documents.uploads import until
from tests.processing.events.conftest import UseStreams
from tests.processing.events.event_stream_client import names, open_event_stream
from tests.support.cluster import PASSWORDS
from tests.support.live_api import RunningApi
from tests.support.seed import Person, Seed

KILL = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE application_name LIKE 'listening%%' AND datname = current_database()
"""
A_LONG_TIME = 3600  # an event before the next poll can only come from a notification
Happening = Callable[[], Awaitable[None]]


class EventfulDatabase(Database):
    """Makes a change right after the first queries, before their results are used."""

    happenings: list[Happening]

    @asynccontextmanager
    async def work(self, caller: Principal) -> AsyncIterator[Work[Principal]]:
        async with super().work(caller) as work:
            yield work
        if self.happenings:
            await self.happenings.pop(0)()


@pytest.fixture
async def eventful(address: DatabaseAddress) -> AsyncIterator[EventfulDatabase]:
    database = EventfulDatabase(address, app_password=PASSWORDS.app, service_password=PASSWORDS.service, pool_size=2)
    database.happenings = []
    yield database
    await database.close()


async def test_a_change_right_after_the_snapshot_is_sent(
    api: RunningApi, use_streams: UseStreams, eventful: EventfulDatabase, seed: Seed, owner: Person, kb_id: UUID
) -> None:
    seed.document(kb_id, owner, status="pending")

    async def complete() -> None:
        seed.execute("UPDATE documents SET status = 'failed'")

    eventful.happenings = [complete]
    use_streams(eventful, heartbeat_seconds=A_LONG_TIME)
    async with open_event_stream(api, owner) as tab:
        assert [document["status"] for document in (await tab.expect("snapshot"))["documents"]] == ["pending"]
        assert (await tab.expect("document"))["status"] == "failed"


async def test_a_change_during_the_query_for_the_previous_one_is_sent_too(
    api: RunningApi, use_streams: UseStreams, eventful: EventfulDatabase, seed: Seed, owner: Person, kb_id: UUID
) -> None:
    seed.document(kb_id, owner, status="pending")
    streams = use_streams(eventful, heartbeat_seconds=A_LONG_TIME)
    heard = asyncio.Event()

    async def move_on() -> None:
        seed.execute("UPDATE documents SET status = 'failed'")
        [subscription] = streams._listener._subscriptions

        async def is_heard() -> bool:
            return bool(subscription._changed)

        await until(is_heard)
        heard.set()

    async def nothing() -> None: ...

    eventful.happenings = [nothing, move_on]
    async with open_event_stream(api, owner) as tab:
        await tab.expect("snapshot")
        seed.execute("UPDATE documents SET status = 'processing'")
        assert (await tab.expect("document"))["status"] == "processing"
        assert heard.is_set()
        assert (await tab.expect("document"))["status"] == "failed"


async def test_what_happens_while_nobody_listens_is_told_afterwards(
    api: RunningApi, seed: Seed, owner: Person, kb_id: UUID
) -> None:
    known = seed.document(kb_id, owner, name="known", status="pending")
    async with open_event_stream(api, owner) as tab:
        await tab.expect("snapshot")
        assert seed.rows(KILL) == [(True,)]
        seed.execute("UPDATE documents SET status = 'completed', completed_at = now()")
        seed.document(kb_id, owner, name="new", status="pending")
        events = await tab.until("snapshot")
        assert names(events[-1][1]) == ["new"]
        assert ("document", str(known), "completed") in [
            (name, data.get("document_id"), data.get("status")) for name, data in events
        ]
        seed.execute("UPDATE documents SET status = 'failed' WHERE name = 'new'")
        assert (await tab.until("document", status="failed"))[-1][1]["name"] == "new"


async def test_a_database_that_is_away_for_a_moment_does_not_end_the_stream(
    api: RunningApi, use_streams: UseStreams, eventful: EventfulDatabase, seed: Seed, owner: Person, kb_id: UUID
) -> None:
    async def fail() -> None:
        raise DatabaseUnavailable

    async def nothing() -> None: ...

    eventful.happenings = [fail, nothing, fail]
    use_streams(eventful, heartbeat_seconds=A_LONG_TIME)
    async with open_event_stream(api, owner) as tab:
        await tab.expect("snapshot")
        seed.document(kb_id, owner, name="new")
        assert (await tab.expect("document"))["name"] == "new"
    assert eventful.happenings == []


async def test_a_slow_client_costs_no_more_memory_and_is_told_to_reload_everything() -> None:
    subscription = Subscription(new_id())
    assert subscription.take_changes() == (set(), True)
    for _ in range(MAX_PENDING_CHANGES):
        subscription.mark_changed(new_id())
    same = new_id()
    for _ in range(2):
        subscription.mark_changed(same)
    changed, has_gap = subscription.take_changes()
    assert len(changed) < MAX_PENDING_CHANGES
    assert has_gap
    assert subscription.take_changes() == (set(), False)
