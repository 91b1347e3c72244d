import pytest

from tests.handover.archiver.environment import ArchiverEnvironment
from tests.handover.handover_api import HandoverApi
from tests.support.fake_paperless.fake import FakePaperless, FakePaperlessServers

FLAVOURS = [pytest.param(2, id="2.x"), pytest.param(3, id="3.x")]


@pytest.fixture(params=FLAVOURS)
def server(request: pytest.FixtureRequest, paperless_servers: FakePaperlessServers) -> FakePaperless:
    return paperless_servers.of(request.param)


@pytest.fixture
def server3(paperless_servers: FakePaperlessServers) -> FakePaperless:
    """Paperless 3.x, for tests that do not depend on the version."""
    return paperless_servers.of(3)


@pytest.fixture
def archiver_env(office: HandoverApi, server: FakePaperless) -> ArchiverEnvironment:
    return ArchiverEnvironment(office, server)


@pytest.fixture
def archiver_env_v3(office: HandoverApi, server3: FakePaperless) -> ArchiverEnvironment:
    return ArchiverEnvironment(office, server3)
