from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.advisory_locks import AdvisoryLocks
from muniment.storage.db.work import Database
from muniment.storage.objects.folder.store import FolderObjectStore
from tests.processing.worker_fixture import WorkerFixture
from tests.support.cluster import service_login
from tests.support.seed import Seed


@pytest.fixture
async def worker_env(
    address: DatabaseAddress, database: Database, seed: Seed, tmp_path: Path
) -> AsyncIterator[WorkerFixture]:
    locks = AdvisoryLocks(service_login(address), max_connections=4)
    yield WorkerFixture(seed, database, FolderObjectStore(tmp_path / "blobs"), locks)
    await locks.close()
