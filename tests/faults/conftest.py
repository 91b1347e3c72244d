from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from muniment.processing.pipeline import progress
from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.advisory_locks import AdvisoryLocks
from muniment.storage.db.work import Database
from muniment.storage.objects.folder.store import FolderObjectStore
from tests.faults.harness import FaultHarness
from tests.processing.worker_fixture import WorkerFixture
from tests.support.cluster import service_login
from tests.support.seed import Seed


@pytest.fixture
async def fault_env(
    address: DatabaseAddress, database: Database, seed: Seed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[FaultHarness]:
    # Report progress after each page, so that every run has the same effects regardless of its speed.
    monkeypatch.setattr(progress, "INTERVAL_SECONDS", 0)
    folder, locks = tmp_path / "blobs", AdvisoryLocks(service_login(address), max_connections=4)
    yield FaultHarness(
        address, folder, WorkerFixture(seed, database, FolderObjectStore(folder, sync=lambda _: None), locks)
    )
    await locks.close()
