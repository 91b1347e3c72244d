"""When a stream ends, and when it does not."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any
from uuid import UUID

import httpx
import pytest

from muniment.api import ApiServer, uvicorn_config, with_middleware
from muniment.settings import Settings
from tests.documents.uploads import until
from tests.processing.events.conftest import UseStreams
from tests.processing.events.event_stream_client import PATH, open_event_stream
from tests.support.live_api import RunningApi
from tests.support.log_lines import Lines, capture_logs
from tests.support.seed import Person, Seed


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Iterator[Lines]:
    with capture_logs(capsys) as read:
        yield read


async def test_a_quiet_stream_beats(api: RunningApi, use_streams: UseStreams, owner: Person) -> None:
    use_streams(heartbeat_seconds=0.1)
    async with open_event_stream(api, owner) as tab:
        await tab.expect("snapshot")
        await tab.until_heartbeat()


@pytest.mark.parametrize(
    "farewell",
    [
        "UPDATE api_tokens SET revoked_at = now() WHERE user_id = %s",
        "UPDATE api_tokens SET expires_at = now() WHERE user_id = %s",
        "UPDATE users SET is_active = false WHERE id = %s",
    ],
)
async def test_the_stream_ends_with_the_token_and_with_the_account(
    api: RunningApi, use_streams: UseStreams, seed: Seed, owner: Person, kb_id: UUID, farewell: str
) -> None:
    use_streams(heartbeat_seconds=0.1)
    async with open_event_stream(api, owner) as tab, open_event_stream(api, seed.person()) as other:
        await tab.expect("snapshot")
        seed.execute(farewell, owner.id)
        assert await tab.until_end() == []
        await other.expect("snapshot")
        await other.until_heartbeat()


async def test_the_stream_ends_with_the_session(
    api: RunningApi, use_streams: UseStreams, seed: Seed, owner: Person
) -> None:
    use_streams(heartbeat_seconds=0.1)
    cookie = {"Cookie": f"muniment_session={seed.session(owner)}"}
    async with open_event_stream(api, owner, cookie) as tab:
        await tab.expect("snapshot")
        signed_out = await api.anonymous.post("/api/v1/auth/logout", headers={**cookie, "Origin": api.url})
        assert signed_out.status_code == 204
        assert await tab.until_end() == []


async def test_a_membership_that_ends_in_silence_is_noticed_with_the_next_beat(
    api: RunningApi, use_streams: UseStreams, seed: Seed, owner: Person, kb_id: UUID
) -> None:
    use_streams(heartbeat_seconds=0.1)
    viewer = seed.person(owner.organization_id)
    seed.member(kb_id, viewer, "viewer")
    document_id = seed.document(kb_id, owner, status="pending")
    async with open_event_stream(api, viewer) as tab:
        await tab.expect("snapshot")
        seed.execute("DELETE FROM knowledge_base_members")
        assert await tab.expect("gone") == {"document_id": str(document_id)}


async def test_a_person_has_so_many_streams_and_no_more(
    api: RunningApi, use_streams: UseStreams, seed: Seed, owner: Person
) -> None:
    use_streams(streams_per_user=2)
    async with api.client(owner) as client, open_event_stream(api, owner):
        async with open_event_stream(api, owner):
            refused = await client.get(PATH)
            assert refused.status_code == 429
            assert int(refused.headers["retry-after"]) > 0
            async with open_event_stream(api, seed.person()) as other:
                await other.expect("snapshot")

        async def is_free_again() -> bool:
            async with client.stream("GET", PATH) as response:
                return response.status_code == 200

        await until(is_free_again)


async def test_a_stream_that_the_reader_leaves_is_no_error_in_the_log(
    api: RunningApi, owner: Person, lines: Lines
) -> None:
    async with open_event_stream(api, owner) as tab:
        await tab.expect("snapshot")
    seen: list[dict[str, Any]] = []

    async def is_logged() -> bool:
        seen.extend(lines())
        return any(line["event"] == "http.request" for line in seen)

    await until(is_logged)
    [line] = [line for line in seen if line["event"] == "http.request"]
    assert (line["level"], line["status"], line["operation"]) == ("info", 499, "follow_events")
    assert line["bytes"] > 0
    assert [other for other in seen if other["level"] not in ("info", "debug")] == []


@asynccontextmanager
async def production_server(api: RunningApi, settings: Settings) -> AsyncIterator[tuple[ApiServer, RunningApi]]:
    """Build the server as `api.run` does, with a time limit for open responses."""
    server = ApiServer(
        uvicorn_config(settings, with_middleware(api.app, settings)), end_streams=api.services.events.close
    )
    serving = asyncio.create_task(server.serve())

    async def is_started() -> bool:
        return server.started

    try:
        await until(is_started)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield server, replace(api, url=f"http://127.0.0.1:{port}")
    finally:
        server.should_exit = True
        await serving


async def test_the_server_ends_its_streams_and_does_not_wait_for_them(
    api: RunningApi, settings: Settings, owner: Person, lines: Lines
) -> None:
    async with production_server(api, settings) as (server, running), open_event_stream(running, owner) as tab:
        await tab.expect("snapshot")
        server.should_exit = True
        assert await tab.until_end() == []  # raises if the stream was cut off after the time limit
    seen = lines()
    assert [line["status"] for line in seen if line["event"] == "http.request"] == [200]
    assert [line for line in seen if line["level"] not in ("info", "debug")] == []


async def test_after_the_end_no_stream_is_opened_any_more(api: RunningApi, owner: Person) -> None:
    await api.services.events.close()
    async with api.client(owner) as client:
        answer = await client.get(PATH)
    assert answer.status_code == 503


async def test_who_is_not_signed_in_gets_no_stream(api: RunningApi) -> None:
    answer: httpx.Response = await api.anonymous.get(PATH)
    assert answer.status_code == 401
