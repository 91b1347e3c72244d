from collections.abc import AsyncIterator

import pytest

from muniment.settings import Settings
from tests.handover.handover_api import Office, open_office
from tests.support.seed import Seed


@pytest.fixture
async def office(settings: Settings, seed: Seed) -> AsyncIterator[Office]:
    async with open_office(settings, seed) as office:
        yield office
