from collections.abc import Iterator

import pytest

from tests.handover.archiver.environment import Stage
from tests.handover.handover_api import Office
from tests.support.fake_paperless.fake import StandIn, stand_in
from tests.support.seaweedfs import SeaweedFS, seaweedfs

FLAVOURS = [pytest.param(2, id="2.x"), pytest.param(3, id="3.x")]


@pytest.fixture(params=FLAVOURS)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandIn]:
    with stand_in(tmp_path_factory.mktemp("paperless"), flavour=request.param) as server:
        yield server


@pytest.fixture
def server3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandIn]:
    """For what does not depend on the version."""
    with stand_in(tmp_path_factory.mktemp("paperless"), flavour=3) as server:
        yield server


@pytest.fixture
def stage(office: Office, server: StandIn) -> Stage:
    return Stage(office, server)


@pytest.fixture
def stage3(office: Office, server3: StandIn) -> Stage:
    return Stage(office, server3)


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SeaweedFS]:
    with seaweedfs(tmp_path_factory.mktemp("seaweedfs")) as server:
        yield server


@pytest.fixture
def empty_s3_server(s3_server: SeaweedFS) -> SeaweedFS:
    s3_server.empty()
    return s3_server
