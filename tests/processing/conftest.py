from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.advisory_locks import AdvisoryLocks
from muniment.storage.db.work import Database
from muniment.storage.objects.folder.store import FolderBlobs
from tests.processing.worker_fixture import Desk
from tests.support.cluster import service_login
from tests.support.seed import Seed


@pytest.fixture
async def desk(address: DatabaseAddress, database: Database, seed: Seed, tmp_path: Path) -> AsyncIterator[Desk]:
    locks = AdvisoryLocks(service_login(address), at_once=4)
    yield Desk(seed, database, FolderBlobs(tmp_path / "blobs"), locks)
    await locks.close()
