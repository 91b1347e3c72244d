import pytest

from muniment.storage.db.work import Database
from tests.support.jobs import Enqueuer
from tests.support.seed import Seed


@pytest.fixture
def queue(database: Database, seed: Seed) -> Enqueuer:
    return Enqueuer(database, seed)
