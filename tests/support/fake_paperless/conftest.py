from collections.abc import Iterator

import httpx
import pytest

from tests.support.fake_paperless.fake import FakePaperless, FakePaperlessServers
from tests.support.fake_paperless.raw_client import RawClient


@pytest.fixture(params=[pytest.param(2, id="2.x"), pytest.param(3, id="3.x")])
def flavour(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def server(flavour: int, paperless_servers: FakePaperlessServers) -> FakePaperless:
    return paperless_servers.of(flavour)


@pytest.fixture(scope="module")
def http_client() -> Iterator[httpx.Client]:
    with httpx.Client(timeout=30) as client:
        yield client


@pytest.fixture
def ask(server: FakePaperless, http_client: httpx.Client) -> RawClient:
    """Client of the archiver's user, in version 9."""
    return RawClient(http_client, server.url)
