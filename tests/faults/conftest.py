from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from muniment.processing.pipeline.nodes import extract_text
from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.advisory_locks import AdvisoryLocks
from muniment.storage.db.work import Database
from muniment.storage.objects.folder.store import FolderBlobs
from tests.faults.harness import Stage
from tests.processing.worker_fixture import Desk
from tests.support.cluster import service_login
from tests.support.seed import Seed


@pytest.fixture
async def stage(
    address: DatabaseAddress, database: Database, seed: Seed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Stage]:
    # Progress is told after each page, whatever the clock says: the same effects in every run.
    monkeypatch.setattr(extract_text, "INTERVAL_SECONDS", 0)
    folder, locks = tmp_path / "blobs", AdvisoryLocks(service_login(address), at_once=4)
    yield Stage(address, folder, Desk(seed, database, FolderBlobs(folder, sync=lambda _: None), locks))
    await locks.close()
