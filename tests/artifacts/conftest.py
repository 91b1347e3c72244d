from pathlib import Path

import pytest

from muniment.storage.blobs.folder import FolderBlobs
from muniment.storage.db.work import Database
from tests.artifacts.shelf import Shelf
from tests.seed import Seed


@pytest.fixture
def shelf(seed: Seed, database: Database, tmp_path: Path) -> Shelf:
    return Shelf(seed, database, FolderBlobs(tmp_path))
