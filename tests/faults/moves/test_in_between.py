"""Between any two effects of an upload another user uploads a file of the same name: only one of them succeeds."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from sqlalchemy import Connection
from sqlalchemy.util.concurrency import await_only

from muniment.settings import Settings
from tests.documents.uploads import until
from tests.faults.moves.faults import Fault, Faults, Part, is_in_transaction
from tests.faults.moves.installation import InProcessInstallation, installed
from tests.faults.moves.moves import NEW, OTHER, documents_of, prepare
from tests.support.seed import Seed

WAITING = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
THERE = "SELECT count(*) FROM documents WHERE knowledge_base_id = %s AND name = %s AND status = 'pending'"


@dataclass
class ConcurrentUpload:
    """Uploads a file of that name as far as the locks allow."""

    installation: InProcessInstallation
    name: str
    upload: asyncio.Task[httpx.Response] | None = None

    async def __call__(self) -> None:
        self.upload = asyncio.create_task(upload(self.installation, "editor", self.name, OTHER))
        await until(self._is_through_or_waits)

    async def _is_through_or_waits(self) -> bool:
        assert self.upload
        return self.upload.done() or bool(self.installation.seed.one(WAITING))


class InterruptingFaults(Faults):
    """Lets the other user upload at one effect."""

    def __init__(self, at: int, other_upload: ConcurrentUpload) -> None:
        super().__init__()
        self._number, self._other_upload = at, other_upload

    def _is_time(self) -> bool:
        """Return True once: the effects of the other upload are counted here, too."""
        is_time = len(self.reached) == self._number
        self._number = -1 if is_time else self._number
        return is_time

    async def arrive(self, part: Part, what: str) -> Fault | None:
        if self._is_time():
            await self._other_upload()
        return await super().arrive(part, what)

    def _before(self, *arguments: Any) -> None:
        if self._is_time():
            await_only(self._other_upload())
        super()._before(*arguments)

    def _commit(self, connection: Connection) -> None:
        if is_in_transaction(connection) and self._is_time():
            await_only(self._other_upload())
        super()._commit(connection)


@pytest.fixture
async def installation(settings: Settings, seed: Seed) -> AsyncIterator[InProcessInstallation]:
    async with installed(settings, seed, "pgvector") as installation:
        yield installation


async def upload(installation: InProcessInstallation, who: str, name: str, content: bytes) -> httpx.Response:
    async with installation.client(who) as client:
        return await client.post(documents_of(installation.kb_id), files={"file": (name, content)})


# With a failed upload of the same name, both wait for its row before they can conflict with each other.
@pytest.mark.parametrize(("name", "has_failed_before"), [("New.PDF", True), ("Fresh.pdf", False)])
async def test_of_two_uploads_of_one_name_one_is_there_and_the_other_is_told_so(
    installation: InProcessInstallation, name: str, has_failed_before: bool
) -> None:
    documents = len((await prepare(installation, "upload")).documents)
    undisturbed = Faults()
    async with installation.disturbed(undisturbed):
        await upload(installation, "owner", name, NEW)
    for number in range(len(undisturbed.reached)):
        installation.keeping.restore()
        other_upload = ConcurrentUpload(installation, name)
        async with installation.disturbed(InterruptingFaults(number, other_upload)):
            first = await upload(installation, "owner", name, NEW)
            assert other_upload.upload
            statuses = sorted([first.status_code, (await other_upload.upload).status_code])
        assert statuses == [201, 409], undisturbed.reached[number]
        assert installation.seed.one(THERE, installation.kb_id, name) == 1
        assert installation.seed.one("SELECT count(*) FROM documents") == documents + (not has_failed_before)
