"""Run the same tests against both versions of the fake, and against a real Paperless if the environment names one."""

import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from muniment.handover.paperless.client import Paperless
from muniment.handover.paperless.transport import Timeouts
from tests.handover.paperless.uploads import Archive, a_name
from tests.support.fake_paperless.fake import StandIn, stand_in

REAL_URL = os.environ.get("MUNIMENT_TEST_PAPERLESS_URL")
REAL_TOKEN = os.environ.get("MUNIMENT_TEST_PAPERLESS_TOKEN", "")
FLAVOURS = [pytest.param(2, id="2.x"), pytest.param(3, id="3.x")]


@dataclass(frozen=True)
class Place:
    url: str
    token: str


@pytest.fixture(scope="session", params=[*FLAVOURS, *([pytest.param(None, id="real")] if REAL_URL else [])])
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    if request.param is None:
        yield Place(str(REAL_URL), REAL_TOKEN)
        return
    with stand_in(_folder(tmp_path_factory), flavour=request.param) as server:
        yield Place(server.url, server.token)


@pytest.fixture
async def paperless(place: Place) -> AsyncIterator[Paperless]:
    async with Paperless(place.url, place.token) as client:
        yield client


@pytest.fixture
async def archive(paperless: Paperless) -> Archive:
    """Tags, correspondent, type and fields of the test's own."""
    return await Archive.of(paperless)


@pytest.fixture(scope="session", params=FLAVOURS)
def shared_server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandIn]:
    with stand_in(_folder(tmp_path_factory), flavour=request.param) as server:
        yield server


@pytest.fixture
def server(shared_server: StandIn) -> Iterator[StandIn]:
    """A stand-in of which a test can ask every fault; afterwards it is well again."""
    shared_server.forget_requests()
    yield shared_server
    shared_server.clear()
    shared_server.recover()


@pytest.fixture
async def client(server: StandIn) -> AsyncIterator[Paperless]:
    async with Paperless(server.url, server.token, timeouts=Timeouts(upload_seconds=20, seconds=20)) as client:
        client.reread_after_seconds = 0
        yield client


@pytest.fixture
def shelf(server: StandIn, client: Paperless) -> Archive:
    """Tags, correspondent, type and fields of the test's own, made past the client."""
    return Archive(
        client,
        server.make("tags", a_name("org")),
        server.make("tags", a_name("source")),
        server.make("correspondents", a_name("org")),
        server.make("document_types", a_name("Invoice")),
        server.make("custom_fields", a_name("sha256"), data_type="string"),
    )


def _folder(factory: pytest.TempPathFactory) -> Path:
    return factory.mktemp("paperless")
