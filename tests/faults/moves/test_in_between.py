"""Two people at once: between any two effects of one's upload another's of the same name comes in, and one is there."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx
import pytest
from sqlalchemy import Connection
from sqlalchemy.util.concurrency import await_only

from muniment.settings import Settings
from tests.documents.uploads import until
from tests.faults.moves.faults import Fault, Faults, Part
from tests.faults.moves.installation import Installation, installed
from tests.faults.moves.moves import NEW, OTHER, documents_of, prepare
from tests.seed import Seed

IS_WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted"


class Visited(Faults):
    """At one effect somebody else comes, and is let through as far as they get."""

    def __init__(self, at: int, visit: Callable[[], Awaitable[object]]) -> None:
        super().__init__()
        self._number, self._visit = at, visit

    def _is_time(self) -> bool:
        """Once: the visitor's own effects pass here too."""
        is_time = len(self.reached) == self._number
        self._number = -1 if is_time else self._number
        return is_time

    async def arrive(self, part: Part, what: str) -> Fault | None:
        if self._is_time():
            await self._visit()
        return await super().arrive(part, what)

    def _before(self, *arguments: Any) -> None:
        if self._is_time():
            await_only(self._visit())
        super()._before(*arguments)

    def _commit(self, connection: Connection) -> None:
        if not connection._is_autocommit_isolation() and self._is_time():
            await_only(self._visit())
        super()._commit(connection)


@pytest.fixture
async def installation(settings: Settings, seed: Seed) -> AsyncIterator[Installation]:
    async with installed(settings, seed, "pgvector") as installation:
        yield installation


async def test_of_two_uploads_of_one_name_one_is_there_and_the_other_is_told_so(installation: Installation) -> None:
    prepared, seed = await prepare(installation, "upload"), installation.seed
    path = documents_of(installation.kb_id)

    async def upload(client: httpx.AsyncClient, content: bytes) -> httpx.Response:
        return await client.post(path, files={"file": ("New.PDF", content)})

    undisturbed = Faults()
    async with installation.client() as client, installation.disturbed(undisturbed):
        await upload(client, NEW)
    for number in range(len(undisturbed.reached)):
        installation.keeping.restore()
        others = list[asyncio.Task[httpx.Response]]()
        async with installation.client("editor") as editor, installation.client() as client:

            async def visit() -> None:
                others.append(asyncio.create_task(upload(editor, OTHER)))  # noqa: B023  # it is over with this round

                async def is_through_or_waits() -> bool:
                    return others[0].done() or bool(seed.one(IS_WAITING))  # noqa: B023

                await until(is_through_or_waits)

            async with installation.disturbed(Visited(number, visit)):
                answers = [await upload(client, NEW), await others[0]]
        assert sorted(answer.status_code for answer in answers) == [201, 409], (undisturbed.reached[number], answers)
        [(name, status)] = seed.rows(
            "SELECT name, status FROM documents WHERE knowledge_base_id = %s", installation.kb_id
        )
        assert (name, status) == ("New.PDF", "pending")
        assert not seed.rows("SELECT FROM documents WHERE id = %s", prepared.documents["failed"])
