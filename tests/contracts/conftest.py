"""The stores that a contract suite runs against, each on its real engine."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from muniment.storage.objects.folder.store import FolderObjectStore
from muniment.storage.objects.port import ObjectStore
from muniment.storage.objects.s3.store import S3ObjectStore
from tests.support.seaweedfs import SeaweedFS


@dataclass(frozen=True)
class Store:
    objects: ObjectStore
    leftovers: Callable[[], list[str]]
    """Return what unfinished writers left, without the port."""


def connect(server: SeaweedFS, **changes: str) -> S3ObjectStore:
    """Return a client of `server` with these changes to its address."""
    return S3ObjectStore(replace(server.address, **changes))


@pytest.fixture(params=["folder", "s3"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    if request.param == "folder":
        incoming = tmp_path / "blobs" / ".incoming"
        store = Store(FolderObjectStore(tmp_path / "blobs"), lambda: [path.name for path in incoming.iterdir()])
    else:
        # Requested by name, so that the server is started only if a test needs it.
        server: SeaweedFS = request.getfixturevalue("empty_s3_server")
        store = Store(connect(server), server.open_uploads)
    yield store
    await store.objects.close()


@pytest.fixture
def objects(store: Store) -> ObjectStore:
    return store.objects
