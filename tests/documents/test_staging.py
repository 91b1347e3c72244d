"""Uploads in progress while their surroundings change."""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.types import Message

from muniment.artifacts.keys import ContentKeyFactory, SharingScope
from muniment.documents.staging import Staging, UploadExpired, UploadSweep
from muniment.errors import StorageFull, TooSlow
from muniment.http.streaming import request_chunks
from muniment.knowledge_bases.access import Access, get_access
from muniment.storage.db.base import now
from muniment.storage.db.work import Database
from muniment.storage.deletions.deleters import ObjectDeleter
from muniment.storage.deletions.ledger import Ledger
from muniment.storage.deletions.tables import LedgerStore
from muniment.storage.objects.folder.store import FolderObjectStore
from tests.support.seed import Seed

PIECE = b"The tenant pays on the first of each month.\n" * 1000


class StagingHarness:
    """A staging service on real stores."""

    def __init__(self, database: Database, folder: Path) -> None:
        self.database = database
        self.objects = FolderObjectStore(folder / "blobs")
        self.ledger = Ledger(database, {LedgerStore.OBJECTS: ObjectDeleter(self.objects)})

    def staging(self, *, has_room: Callable[[], bool] = lambda: True, lifetime: timedelta = timedelta(1)) -> Staging:
        keys = ContentKeyFactory("secret", SharingScope.ORGANIZATION)
        return Staging(
            self.database, self.objects, self.ledger, keys, has_room=has_room, max_bytes=10**9, lifetime=lifetime
        )

    async def is_empty(self) -> bool:
        return not [info async for info in self.objects.list()]


@pytest.fixture
def staging_env(database: Database, tmp_path: Path) -> StagingHarness:
    return StagingHarness(database, tmp_path)


@pytest.fixture
async def access(database: Database, seed: Seed) -> Access:
    owner = seed.person()
    kb_id = seed.knowledge_base(owner)
    async with database.work(owner.principal) as work:
        return await get_access(work, kb_id)


async def pieces(number: int) -> AsyncIterator[bytes]:
    for _ in range(number):
        yield PIECE


async def test_an_upload_that_began_in_time_is_stopped_when_the_disk_runs_full(
    staging_env: StagingHarness, access: Access, seed: Seed
) -> None:
    room = iter([True] * 5)
    with pytest.raises(StorageFull):
        async with staging_env.staging(has_room=lambda: next(room, False)).stage(
            access, "lease.txt", pieces(100), now=now()
        ):
            pytest.fail("it was staged")
    assert await staging_env.is_empty()
    assert seed.rows("SELECT 1 FROM uploads") == []


async def test_no_object_appears_for_an_upload_that_the_sweep_took_before_its_end(
    staging_env: StagingHarness, access: Access, seed: Seed
) -> None:
    lifetime = timedelta(microseconds=1)
    sweeps = UploadSweep(staging_env.database, staging_env.ledger, [staging_env.objects], upload_lifetime=timedelta(1))

    async def slow() -> AsyncIterator[bytes]:
        yield PIECE
        await sweeps.run()
        assert seed.rows("SELECT 1 FROM uploads") == []
        yield PIECE

    with pytest.raises(UploadExpired):
        async with staging_env.staging(lifetime=lifetime).stage(access, "lease.txt", slow(), now=now()):
            pytest.fail("it was staged: a crash here would leave an object that nothing points to")
    assert await staging_env.is_empty()


async def test_an_upload_that_is_slow_but_noted_goes_through(
    staging_env: StagingHarness, access: Access, seed: Seed
) -> None:
    long_ago = now() - timedelta(hours=23)
    async with staging_env.staging().stage(access, "lease.txt", pieces(2), now=long_ago):
        assert seed.one("SELECT expires_at > now() + interval '23 hours' FROM uploads")


async def test_whoever_falls_silent_in_the_middle_of_a_body_is_too_slow() -> None:
    sent: list[Message] = [{"type": "http.request", "body": b"x", "more_body": True}]

    async def receive() -> Message:
        while not sent:
            await asyncio.Event().wait()
        return sent.pop()

    request = Request({"type": "http", "method": "POST", "headers": []}, receive)
    with pytest.raises(TooSlow):
        assert [chunk async for chunk in request_chunks(request, stalled_seconds=0.05)]
