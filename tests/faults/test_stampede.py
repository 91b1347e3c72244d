"""A new file uploaded by many users at the same time is processed once, and others do not wait (docs/design.md#i5)."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import BinaryIO
from uuid import UUID

import pytest

from muniment.processing.readers.contract import ReadingOptions
from muniment.processing.sandbox.client import OpenedFile
from muniment.storage.db.address import DatabaseAddress
from tests.faults.harness import FaultHarness
from tests.processing.worker_fixture import FixedReader
from tests.support.jobs import running_worker, wait_until

PEOPLE = 16
NEVER = timedelta(hours=1)
SHARED, OTHER = b"what everybody has", b"what one has"


class SlowReader(FixedReader):
    """Reader that waits for a signal before it reads the shared file, and reads others immediately."""

    def __init__(self) -> None:
        super().__init__()
        self.began = Counter[bytes]()
        self.may_go_on = asyncio.Event()

    @asynccontextmanager
    async def read(
        self, file: BinaryIO, media_type: str, options: ReadingOptions, *, first_page: int = 1
    ) -> AsyncIterator[OpenedFile]:
        content = file.read()
        file.seek(0)
        self.began[content] += 1
        if content == SHARED:
            await self.may_go_on.wait()
        async with super().read(file, media_type, options, first_page=first_page) as reading:
            yield reading


async def queue_for_everybody(fault_env: FaultHarness) -> list[UUID]:
    """Enqueue the file for several users of one organization, each with their own knowledge base."""
    worker_env = fault_env.worker_env
    people = [fault_env.seed.person(worker_env.owner.organization_id) for _ in range(PEOPLE)]
    uploads = ((person, fault_env.seed.knowledge_base(person)) for person in people)
    return await asyncio.gather(
        *(worker_env.document(SHARED, owner=person, kb_id=kb_id, name="same.pdf") for person, kb_id in uploads)
    )


def are_completed(fault_env: FaultHarness, documents: list[UUID]) -> bool:
    return {fault_env.worker_env.status(document_id) for document_id in documents} == {"completed"}


@pytest.mark.timeout(600)
async def test_many_concurrent_uploads_compute_once_and_delay_no_other(
    address: DatabaseAddress, fault_env: FaultHarness
) -> None:
    reader = fault_env.worker_env.reader = SlowReader()
    async with running_worker(address, fault_env.worker_env.worker(), concurrency=2, stalled_after=NEVER):
        documents = await queue_for_everybody(fault_env)
        await wait_until(lambda: reader.began[SHARED])
        other = await fault_env.worker_env.document(OTHER, name="other.pdf")
        await wait_until(lambda: fault_env.worker_env.status(other) == "completed")
        assert "completed" not in {fault_env.worker_env.status(document_id) for document_id in documents}
        reader.may_go_on.set()
        await wait_until(lambda: are_completed(fault_env, documents))
    assert reader.began == {SHARED: 1, OTHER: 1}
    # None of them was claimed in vain while the first was being read.
    assert fault_env.seed.rows("SELECT DISTINCT attempt FROM document_processing_runs") == [(1,)]
    assert fault_env.seed.one("SELECT count(*) FROM artifacts_full_text") == 2
    shown = "SELECT count(DISTINCT artifact_text_id), count(*) FROM documents WHERE name = 'same.pdf'"
    assert fault_env.seed.rows(shown) == [(1, PEOPLE)]
