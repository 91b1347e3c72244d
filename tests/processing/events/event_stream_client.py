"""A browser tab that follows the event stream."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import httpx

from tests.support.clients import local_client
from tests.support.live_api import RunningApi
from tests.support.seed import Person

PATH = "/api/v1/events"
Event = tuple[str, dict[str, Any]]


class EventStreamClient:
    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self.retry: str | None = None
        self._lines = response.aiter_lines()

    async def next(self) -> Event | None:
        """Return the next event, or None at the proper end of the stream. Raises if it was cut off."""
        name = ""
        async for line in self._lines:
            field, _, value = line.partition(": ")
            match field:
                case "event":
                    name = value
                case "data":
                    return name, json.loads(value)
                case "retry":
                    self.retry = value
        return None

    async def expect(self, name: str) -> dict[str, Any]:
        """Return the next event, which must have this name."""
        event = await self.next()
        assert event is not None
        assert event[0] == name, event
        return event[1]

    async def until(self, name: str, **values: Any) -> list[Event]:
        """Return all events up to the one with this name and these values."""
        seen = []
        while (event := await self.next()) is not None:
            seen.append(event)
            if event[0] == name and values.items() <= event[1].items():
                return seen
        raise AssertionError(f"the stream ended without it, after {seen}")

    async def until_heartbeat(self) -> None:
        async for line in self._lines:
            if line.startswith(": "):
                return
        raise AssertionError("the stream ended without a beat")

    async def until_end(self) -> list[Event]:
        seen = []
        while (event := await self.next()) is not None:
            seen.append(event)
        return seen


def names(snapshot: dict[str, Any]) -> list[str]:
    return [document["name"] for document in snapshot["documents"]]


def ids(events: list[Event]) -> set[UUID]:
    return {UUID(data["document_id"]) for _, data in events}


@asynccontextmanager
async def open_event_stream(
    api: RunningApi, person: Person, headers: dict[str, str] | None = None
) -> AsyncIterator[EventStreamClient]:
    """Open a stream without reading its snapshot."""
    async with (
        local_client(api.url) as client,
        client.stream("GET", PATH, headers=person.headers if headers is None else headers) as response,
    ):
        assert response.status_code == 200, await response.aread()
        yield EventStreamClient(response)
