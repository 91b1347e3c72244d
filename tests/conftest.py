"""Fixtures for all tests: a database for each test, builders that fill it, and the running API."""

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings as hypothesis_settings

from muniment.settings import Settings
from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.work import Database
from muniment.telemetry.logs import configure_logs
from tests.support.cluster import PASSWORDS, Cluster, RunningCluster
from tests.support.compiled_statements import share_compiled_statements
from tests.support.fake_paperless.fake import FakePaperlessServers
from tests.support.live_api import RunningApi, running_api, settings_for
from tests.support.run_folder import RunFolder
from tests.support.running_server import prepare_data_dir
from tests.support.seaweedfs import SeaweedFS, start_seaweedfs
from tests.support.seed import Seed

AMBIENT: tuple[str, ...] = ("MUNIMENT_", "DATABASE_URL", "S3_", "AWS_", "QDRANT_", "DOCUMENT_HMAC_SECRET", "OTEL_")
AMBIENT += ("INTERNAL_API_KEY", "PAPERLESS_", "CF_ACCESS_")
MEANT_FOR_TESTS = "MUNIMENT_TEST_"

SERVERS = {"cluster", "run_folder", "paperless_servers"}
"""Fixtures that start a server."""
LONGEST = ("faults/moves", "faults/machine", "processes", "web/test_every_page", "faults", "upgrade", "web", "handover")
"""Folders and files, slowest first."""

_cluster: RunningCluster | None = None
_run_folder: RunFolder | None = None


def pytest_configure(config: pytest.Config) -> None:
    configure_logs("json", "ERROR")
    share_compiled_statements()
    hypothesis_settings.register_profile("no clock", deadline=None)  # no timed assertion in a test
    hypothesis_settings.load_profile("no clock")
    # The tests must not depend on settings of the machine. A Qdrant server it names is tested in addition.
    for name in ("QDRANT_URL", "QDRANT_API_KEY"):
        if name in os.environ:
            os.environ[f"TEST_{name}"] = os.environ[name]
    for name in [name for name in os.environ if name.startswith(AMBIENT)]:
        if name.startswith(MEANT_FOR_TESTS):
            continue
        del os.environ[name]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests that need a database or a server, and let each process of the run start with its slowest files."""
    for item in items:
        if not SERVERS.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker("servers")
    processes = int(getattr(config, "workerinput", {}).get("workercount", 1))
    files = dict[Path, list[pytest.Item]]()
    for item in items:
        files.setdefault(item.path, []).append(item)
    longest_first = sorted(files, key=lambda path: (_rank(path), path))
    # xdist gives each process one part of the list; a process that is done takes tests from the end of another part.
    items[:] = [item for part in range(processes) for path in longest_first[part::processes] for item in files[path]]


def _rank(path: Path) -> int:
    """Return the file's position in LONGEST: slower files have lower ranks."""
    folders = path.relative_to(Path(__file__).parent).as_posix()
    return next((rank for rank, folder in enumerate(LONGEST) if folders.startswith(folder)), len(LONGEST))


def pytest_configure_node(node: Any) -> None:
    """Start one cluster in the main process of a parallel run and pass its address to the workers."""
    address = _start_once(node.config)
    node.workerinput["cluster"] = (address.host, address.port)
    node.workerinput["run_folder"] = str(_create_run_folder_once().path)


def pytest_unconfigure(config: pytest.Config) -> None:
    if _cluster:
        _cluster.stop()
    if _run_folder:
        _run_folder.remove()


def _create_run_folder_once() -> RunFolder:
    global _run_folder
    _run_folder = _run_folder or RunFolder.create()
    return _run_folder


def _start_once(config: pytest.Config) -> Cluster:
    global _cluster
    started: Cluster | None = getattr(config, "muniment_cluster", None)
    if started is None:
        _cluster = RunningCluster()
        started = config.muniment_cluster = _cluster.start()  # type: ignore[attr-defined]  # our own attribute
    return started


@pytest.fixture(scope="session")
def cluster(request: pytest.FixtureRequest) -> Cluster:
    given = getattr(request.config, "workerinput", {}).get("cluster")
    return Cluster(*given) if given else _start_once(request.config)


@pytest.fixture(scope="session")
def run_folder(request: pytest.FixtureRequest) -> RunFolder:
    """Folder through which the processes of a parallel run share servers."""
    given = getattr(request.config, "workerinput", {}).get("run_folder")
    return RunFolder(Path(given)) if given else _create_run_folder_once()


@pytest.fixture(scope="session")
def prepared_data_dir(run_folder: RunFolder) -> Path:
    """Data directory of an installation that was started and stopped once. Copy it; do not use it directly."""
    return Path(run_folder.make_once("prepared", prepare_data_dir)["data_dir"])


@pytest.fixture(scope="session")
def s3_server(run_folder: RunFolder, worker_id: str) -> SeaweedFS:
    """One real S3 server for the whole run, with a bucket for each process of the run."""
    server = SeaweedFS(**run_folder.make_once("seaweedfs", start_seaweedfs)["server"], bucket=f"documents-{worker_id}")
    server.make_bucket()
    return server


@pytest.fixture
def empty_s3_server(s3_server: SeaweedFS) -> SeaweedFS:
    s3_server.empty()
    return s3_server


@pytest.fixture(scope="session")
def paperless_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakePaperlessServers]:
    """Fake servers that the tests of a process share, one test at a time."""
    servers = FakePaperlessServers(tmp_path_factory.mktemp("paperless"))
    yield servers
    servers.close()


@pytest.fixture
def address(cluster: Cluster) -> Iterator[DatabaseAddress]:
    """A migrated database for one test, as the superuser. Everything in it really commits."""
    with cluster.new_database() as database:
        yield database


@pytest.fixture
def seed(address: DatabaseAddress) -> Iterator[Seed]:
    seed = Seed(address)
    yield seed
    seed.close()


@pytest.fixture
async def database(address: DatabaseAddress) -> AsyncIterator[Database]:
    """Database with the same two unprivileged logins as in production."""
    database = Database(address, app_password=PASSWORDS.app, service_password=PASSWORDS.service, pool_size=5)
    yield database
    await database.close()


@pytest.fixture
def settings(address: DatabaseAddress, tmp_path: Path) -> Settings:
    return settings_for(address, tmp_path)


@pytest.fixture
async def api(settings: Settings) -> AsyncIterator[RunningApi]:
    async with running_api(settings) as api:
        yield api
