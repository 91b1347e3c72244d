"""Data directories that are checked for leftovers, and a way to wait for a condition."""

import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from muniment.embedded.postgres import EmbeddedPostgres
from tests.support.folders import shared_folder

Eventually = Callable[[Callable[[], object]], None]


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """A new data directory that every user can reach; pytest's folders are closed to others."""
    with shared_folder() as top:
        data_dir = top / "data"
        data_dir.mkdir()
        yield data_dir


@pytest.fixture
def used_data_dir(data_dir: Path, made_cluster: Path) -> Path:
    """A data directory with a cluster of an earlier run. The password is `secret`."""
    (data_dir / "postgres").mkdir()
    subprocess.run(["cp", "-a", made_cluster, data_dir / "postgres"], check=True)
    return data_dir


@pytest.fixture(scope="session")
def made_cluster() -> Iterator[Path]:
    with shared_folder() as top:
        postgres = EmbeddedPostgres(top, password="secret", durable=False)
        postgres.start()
        postgres.stop()
        yield top / "postgres" / "cluster"


@pytest.fixture
def eventually() -> Eventually:
    def wait(condition: Callable[[], object]) -> None:
        deadline = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < deadline, "it did not come true within a minute"
            time.sleep(0.02)

    return wait
