from collections.abc import Iterator

import httpx
import pytest

from tests.support.fake_paperless.fake import StandIn, stand_in
from tests.support.fake_paperless.raw_client import Asking


@pytest.fixture(scope="module", params=[pytest.param(2, id="2.x"), pytest.param(3, id="3.x")])
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandIn]:
    with stand_in(tmp_path_factory.mktemp("paperless"), flavour=request.param) as server:
        yield server


@pytest.fixture
def server(running: StandIn) -> Iterator[StandIn]:
    running.forget_requests()
    yield running
    running.clear()
    running.recover()


@pytest.fixture
def flavour(server: StandIn) -> int:
    return int(server.switches["flavour"])


@pytest.fixture(scope="module")
def wire() -> Iterator[httpx.Client]:
    with httpx.Client(timeout=30) as client:
        yield client


@pytest.fixture
def ask(server: StandIn, wire: httpx.Client) -> Asking:
    """As the archiver's user, in version 9."""
    return Asking(wire, server.url)
