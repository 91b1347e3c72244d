from pathlib import Path

import pytest

from muniment.storage.db.work import Database
from muniment.storage.objects.folder.store import FolderBlobs
from tests.artifacts.artifacts_fixture import Shelf
from tests.support.seed import Seed


@pytest.fixture
def shelf(seed: Seed, database: Database, tmp_path: Path) -> Shelf:
    return Shelf(seed, database, FolderBlobs(tmp_path))
