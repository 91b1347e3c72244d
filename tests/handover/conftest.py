from collections.abc import AsyncIterator

import pytest

from muniment.settings import Settings
from tests.handover.handover_api import HandoverApi, open_handover_api
from tests.support.seed import Seed


@pytest.fixture
async def office(settings: Settings, seed: Seed) -> AsyncIterator[HandoverApi]:
    async with open_handover_api(settings, seed) as office:
        yield office
