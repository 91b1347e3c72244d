from collections.abc import Iterator

import pytest

from tests.handover.archiver.environment import ArchiverEnvironment
from tests.handover.handover_api import HandoverApi
from tests.support.fake_paperless.fake import FakePaperless, fake_paperless
from tests.support.seaweedfs import SeaweedFS, seaweedfs

FLAVOURS = [pytest.param(2, id="2.x"), pytest.param(3, id="3.x")]


@pytest.fixture(params=FLAVOURS)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakePaperless]:
    with fake_paperless(tmp_path_factory.mktemp("paperless"), flavour=request.param) as server:
        yield server


@pytest.fixture
def server3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakePaperless]:
    """Paperless 3.x, for tests that do not depend on the version."""
    with fake_paperless(tmp_path_factory.mktemp("paperless"), flavour=3) as server:
        yield server


@pytest.fixture
def stage(office: HandoverApi, server: FakePaperless) -> ArchiverEnvironment:
    return ArchiverEnvironment(office, server)


@pytest.fixture
def stage3(office: HandoverApi, server3: FakePaperless) -> ArchiverEnvironment:
    return ArchiverEnvironment(office, server3)


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SeaweedFS]:
    with seaweedfs(tmp_path_factory.mktemp("seaweedfs")) as server:
        yield server


@pytest.fixture
def empty_s3_server(s3_server: SeaweedFS) -> SeaweedFS:
    s3_server.empty()
    return s3_server
