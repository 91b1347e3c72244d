"""Run the same tests against both versions of the fake, and against a real Paperless if the environment names one."""

import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import pytest

from muniment.handover.paperless.client import PaperlessClient
from muniment.handover.paperless.transport import Timeouts
from tests.handover.paperless.uploads import UploadTarget, a_name
from tests.support.fake_paperless.fake import FakePaperless, FakePaperlessServers

REAL_URL = os.environ.get("MUNIMENT_TEST_PAPERLESS_URL")
REAL_TOKEN = os.environ.get("MUNIMENT_TEST_PAPERLESS_TOKEN", "")
FLAVOURS = [pytest.param(2, id="2.x"), pytest.param(3, id="3.x")]


@dataclass(frozen=True)
class ServerAddress:
    url: str
    token: str


@pytest.fixture(params=[*FLAVOURS, *([pytest.param(None, id="real")] if REAL_URL else [])])
def server_address(request: pytest.FixtureRequest, paperless_servers: FakePaperlessServers) -> ServerAddress:
    if request.param is None:
        return ServerAddress(str(REAL_URL), REAL_TOKEN)
    server = paperless_servers.of(request.param)
    return ServerAddress(server.url, server.token)


@pytest.fixture
async def paperless(server_address: ServerAddress) -> AsyncIterator[PaperlessClient]:
    async with PaperlessClient(server_address.url, server_address.token) as client:
        yield client


@pytest.fixture
async def upload_target(paperless: PaperlessClient) -> UploadTarget:
    """Tags, correspondent, type and field that only this test uses."""
    return await UploadTarget.create(paperless)


@pytest.fixture(params=FLAVOURS)
def flavour(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def server(flavour: int, paperless_servers: FakePaperlessServers) -> Iterator[FakePaperless]:
    """Fake Paperless whose calls can be made to fail."""
    server = paperless_servers.of(flavour)
    yield server
    server.clear()  # releases hanging requests, so that their clients can be closed


@pytest.fixture
async def client(server: FakePaperless) -> AsyncIterator[PaperlessClient]:
    async with PaperlessClient(server.url, server.token, timeouts=Timeouts(upload_seconds=20, seconds=20)) as client:
        client.reread_after_seconds = 0
        yield client


@pytest.fixture
def fake_upload_target(server: FakePaperless, client: PaperlessClient) -> UploadTarget:
    """Tags, correspondent, type and field that only this test uses, created without the client."""
    return UploadTarget(
        client,
        server.create_object("tags", a_name("org")),
        server.create_object("tags", a_name("source")),
        server.create_object("correspondents", a_name("org")),
        server.create_object("document_types", a_name("Invoice")),
        server.create_object("custom_fields", a_name("sha256"), data_type="string"),
    )
