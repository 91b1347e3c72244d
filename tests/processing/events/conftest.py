from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from muniment.processing.events.stream import EventStreams
from muniment.processing.events.subscriptions import ChangeListener
from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.work import Database
from tests.support.cluster import app_login
from tests.support.live_api import RunningApi
from tests.support.seed import Person, Seed

UseStreams = Callable[..., EventStreams]


@pytest.fixture
async def use_streams(api: RunningApi, address: DatabaseAddress) -> AsyncIterator[UseStreams]:
    """Replace the event streams of the running API: with a shorter interval, fewer streams, or a faulty database."""
    used: list[Callable[[], Awaitable[None]]] = []

    def use(database: Database | None = None, *, streams_per_user: int = 20, **options: Any) -> EventStreams:
        changes = ChangeListener(app_login(address), max_streams_per_user=streams_per_user)
        streams = EventStreams(database or api.stores.database, changes, **options)
        api.app.state.services = replace(api.services, events=streams)
        used.append(streams.close)
        return streams

    yield use
    for close in used:
        await close()


@pytest.fixture
def owner(seed: Seed) -> Person:
    return seed.person()


@pytest.fixture
def kb_id(seed: Seed, owner: Person) -> UUID:
    return seed.knowledge_base(owner)
