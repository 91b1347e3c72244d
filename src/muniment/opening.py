"""The stores of this installation, opened only if they are the ones it had before."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from muniment.audit.keys import introduce
from muniment.bootstrap import Stores, build_stores, require_same_key, require_same_secret, signer_of
from muniment.settings import Settings


@asynccontextmanager
async def open_stores(settings: Settings) -> AsyncIterator[Stores]:
    stores = build_stores(settings)
    try:
        await stores.database.require_current()
        await require_same_secret(settings, stores)
        await require_same_key(settings, stores)
        await introduce(stores.database, signer_of(settings))
        yield stores
    finally:
        await stores.close()
