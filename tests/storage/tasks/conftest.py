import pytest

from muniment.storage.db.work import Database
from tests.seed import Seed
from tests.storage.tasks.queue import Enqueuer


@pytest.fixture
def queue(database: Database, seed: Seed) -> Enqueuer:
    return Enqueuer(database, seed)
