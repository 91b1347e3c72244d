from collections.abc import Iterator

import httpx
import pytest

from tests.support.fake_paperless.fake import FakePaperless, fake_paperless
from tests.support.fake_paperless.raw_client import RawClient


@pytest.fixture(scope="module", params=[pytest.param(2, id="2.x"), pytest.param(3, id="3.x")])
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakePaperless]:
    with fake_paperless(tmp_path_factory.mktemp("paperless"), flavour=request.param) as server:
        yield server


@pytest.fixture
def server(running: FakePaperless) -> Iterator[FakePaperless]:
    running.clear_requests()
    yield running
    running.clear()
    running.recover()


@pytest.fixture
def flavour(server: FakePaperless) -> int:
    return int(server.switches["flavour"])


@pytest.fixture(scope="module")
def wire() -> Iterator[httpx.Client]:
    with httpx.Client(timeout=30) as client:
        yield client


@pytest.fixture
def ask(server: FakePaperless, wire: httpx.Client) -> RawClient:
    """As the archiver's user, in version 9."""
    return RawClient(wire, server.url)
