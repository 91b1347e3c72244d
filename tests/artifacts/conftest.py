from pathlib import Path

import pytest

from muniment.storage.db.work import Database
from muniment.storage.objects.folder.store import FolderObjectStore
from tests.artifacts.artifacts_fixture import ArtifactsFixture
from tests.support.seed import Seed


@pytest.fixture
def artifacts_env(seed: Seed, database: Database, tmp_path: Path) -> ArtifactsFixture:
    return ArtifactsFixture(seed, database, FolderObjectStore(tmp_path))
