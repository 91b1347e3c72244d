from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from muniment.accounts.credentials import Passwords
from muniment.api import with_middleware
from muniment.bootstrap.services import build_services
from muniment.bootstrap.stores import build_stores
from muniment.processing.results.images import ImageService
from muniment.settings import Settings
from tests.processing.results.results_fixture import FakeRenderer, ResultsFixture
from tests.support.apps import borrow_app
from tests.support.live_api import RunningApi
from tests.support.live_server import serving
from tests.support.seed import CHEAP_HASHER, Seed


@pytest.fixture
async def renderer() -> FakeRenderer:
    return FakeRenderer()


@pytest.fixture
async def api(settings: Settings, renderer: FakeRenderer) -> AsyncIterator[RunningApi]:
    """The API with a fake renderer."""
    stores = build_stores(settings)
    pictures = ImageService(stores.objects, renderer)
    parts = replace(build_services(settings, stores, Passwords(CHEAP_HASHER)), images=pictures)
    with borrow_app(parts) as app:
        async with serving(with_middleware(app, settings)) as anonymous:
            yield RunningApi(str(anonymous.base_url), app, settings, stores, parts, anonymous)
    await stores.close()


@pytest.fixture
async def results_env(api: RunningApi, seed: Seed) -> AsyncIterator[ResultsFixture]:
    owner = seed.person()
    async with api.client(owner) as client:
        yield ResultsFixture(api, seed, owner, seed.knowledge_base(owner), client)
