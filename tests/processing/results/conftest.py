from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from muniment.accounts.credentials import Passwords
from muniment.api import framed
from muniment.bootstrap.services import build_parts
from muniment.bootstrap.stores import build_stores
from muniment.processing.results.images import Pictures
from muniment.settings import Settings
from tests.processing.results.results_fixture import Drawer, Shelf
from tests.support.apps import app_of
from tests.support.live_api import Api
from tests.support.live_server import serving
from tests.support.seed import CHEAP_HASHER, Seed


@pytest.fixture
async def drawer() -> Drawer:
    return Drawer()


@pytest.fixture
async def api(settings: Settings, drawer: Drawer) -> AsyncIterator[Api]:
    """As everywhere, but its pictures are drawn by the test's own hand."""
    stores = build_stores(settings)
    pictures = Pictures(stores.blobs, drawer)
    parts = replace(build_parts(settings, stores, Passwords(CHEAP_HASHER)), pictures=pictures)
    with app_of(parts) as app:
        async with serving(framed(app, settings)) as anonymous:
            yield Api(str(anonymous.base_url), app, settings, stores, parts, anonymous)
    await stores.close()


@pytest.fixture
async def shelf(api: Api, seed: Seed) -> AsyncIterator[Shelf]:
    owner = seed.person()
    async with api.client(owner) as client:
        yield Shelf(api, seed, owner, seed.knowledge_base(owner), client)
