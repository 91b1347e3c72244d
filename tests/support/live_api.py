"""The real API on a real port, in the event loop of the test."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI
from pydantic import SecretStr

from muniment.accounts.credentials import Passwords
from muniment.api import with_middleware
from muniment.bootstrap.services import build_services
from muniment.bootstrap.stores import Stores, build_stores
from muniment.http.services import Services
from muniment.settings import Settings
from muniment.settings.processing import AuditSettings, DocumentSettings
from muniment.settings.server import DatabaseSettings, ServerSettings
from muniment.storage.db.address import DatabaseAddress
from tests.support.apps import borrow_app
from tests.support.clients import local_client
from tests.support.cluster import PASSWORDS
from tests.support.live_server import serving
from tests.support.seed import CHEAP_HASHER, HMAC_SECRET, SIGNING_KEY, Person


@dataclass(frozen=True)
class RunningApi:
    """A running server with its parts and clients."""

    url: str
    app: FastAPI
    settings: Settings
    stores: Stores
    services: Services
    anonymous: httpx.AsyncClient

    def client(self, person: Person) -> httpx.AsyncClient:
        """Return a client that is signed in by token."""
        return local_client(self.url, headers=person.headers)


@cache
def _settings_of_all() -> Settings:
    """Return the settings that all tests share: reading the environment for each section is slow."""
    return Settings(
        server=ServerSettings(host="127.0.0.1", port=0),
        database=DatabaseSettings(
            app_password=SecretStr(PASSWORDS.app), service_password=SecretStr(PASSWORDS.service), pool_size=10
        ),
        documents=DocumentSettings(hmac_secret=SecretStr(HMAC_SECRET), disk_floor_bytes=0),
        audit=AuditSettings(signing_key=SecretStr(SIGNING_KEY)),
    )


def settings_for(database: DatabaseAddress, data_dir: Path, **documents: Any) -> Settings:
    """Return settings as an operator would set them. Nothing is read from the environment of the run."""
    common = _settings_of_all()
    own = {
        "server": common.server.model_copy(update={"data_dir": data_dir}),
        "database": common.database.model_copy(update={"url": SecretStr(database.conninfo)}),
        "documents": common.documents.model_copy(update=documents),
    }
    return common.model_copy(update=own)


@asynccontextmanager
async def running_api(settings: Settings, stores: Stores | None = None) -> AsyncIterator[RunningApi]:
    """Serve the API with uvicorn as in production, optionally with faulty `stores`."""
    own = stores or build_stores(settings)
    parts = build_services(settings, own, Passwords(CHEAP_HASHER))
    try:
        with borrow_app(parts) as app:
            async with serving(with_middleware(app, settings)) as anonymous:
                try:
                    yield RunningApi(str(anonymous.base_url), app, settings, own, parts, anonymous)
                finally:
                    await parts.events.close()  # as in production: the server waits for open streams
    finally:
        await parts.images.close()
        await parts.search.close()
        await own.close()
