"""`POST …/{doc_id}/cancel` (docs/contracts.md#cancel): processing stops permanently."""

from collections.abc import AsyncIterator
from dataclasses import replace
from uuid import UUID

import httpx
import psutil
import pytest

from muniment.processing.pipeline.processor import RunProcessor
from muniment.processing.readers.contract import ReaderResources
from muniment.processing.sandbox.client import Sandbox
from muniment.storage.db.address import DatabaseAddress
from tests.lifecycle.moves.test_archive import move
from tests.lifecycle.moves.test_retry import retry
from tests.processing.sandbox.conftest import WORKPLACE
from tests.processing.sandbox.processes import are_gone
from tests.processing.sandbox.test_ends import server_of
from tests.processing.worker_fixture import WorkerFixture
from tests.support.jobs import running_worker, wait_until
from tests.support.live_api import RunningApi

MESSAGE = "Processing cancelled by user"
ROW = "SELECT status, epoch, last_error, processing_status, processing_errors FROM documents WHERE id = %s"


@pytest.fixture
async def client(api: RunningApi, worker_env: WorkerFixture) -> AsyncIterator[httpx.AsyncClient]:
    async with api.client(worker_env.owner) as client:
        yield client


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    """Sandbox whose reader does what the media type says."""
    sandbox = Sandbox(ReaderResources(), server_config=WORKPLACE)
    await sandbox.probe()
    yield sandbox
    await sandbox.close()


async def cancel(client: httpx.AsyncClient, worker_env: WorkerFixture, document_id: UUID) -> None:
    answer = await move(client, worker_env, document_id, "cancel")
    assert (answer.status_code, answer.json()) == (200, {"message": "Document processing cancelled"})


async def test_a_waiting_document_has_failed_and_its_job_is_gone(
    client: httpx.AsyncClient, worker_env: WorkerFixture
) -> None:
    document_id = await worker_env.document()
    await cancel(client, worker_env, document_id)
    error = {"code": "cancelled", "message": MESSAGE}
    assert worker_env.seed.rows(ROW, document_id) == [("failed", 2, MESSAGE, "failed", [error])]
    assert worker_env.seed.rows("SELECT status, error, ended_at IS NULL FROM document_processing_runs") == [
        ("failed", error, False)
    ]
    assert worker_env.seed.one("SELECT count(*) FROM procrastinate_jobs") == 0
    line = worker_env.seed.audit_lines()[-1]
    assert (line["action"], line["payload"]["before"]) == ("document_cancelled", "pending")


@pytest.mark.parametrize("status", ["completed", "failed", "archived"])
async def test_what_is_not_being_read_cannot_be_cancelled(
    client: httpx.AsyncClient, worker_env: WorkerFixture, status: str
) -> None:
    document_id = worker_env.seed.document(worker_env.kb_id, worker_env.owner, status=status)
    answer = await move(client, worker_env, document_id, "cancel")
    detail = "Only PROCESSING or PENDING documents can be cancelled"
    assert (answer.status_code, answer.json()) == (400, {"detail": detail})
    assert worker_env.seed.one("SELECT epoch FROM documents") == 1


async def test_the_reader_and_all_that_it_has_started_end_within_two_seconds(
    address: DatabaseAddress, client: httpx.AsyncClient, worker_env: WorkerFixture, sandbox: Sandbox
) -> None:
    document_id = await worker_env.document(media_type="hang_with_family")
    server = psutil.Process(server_of(sandbox))
    async with running_worker(address, RunProcessor(replace(worker_env.services, reader=sandbox))):
        await wait_until(lambda: len(server.children(recursive=True)) == 3)
        family = [process.pid for process in server.children(recursive=True)]
        await cancel(client, worker_env, document_id)
        await wait_until(lambda: are_gone(family), within=2)
        await wait_until(lambda: worker_env.seed.rows("SELECT status::text FROM procrastinate_jobs") == [("aborted",)])
    assert worker_env.seed.rows(ROW, document_id)[0][:3] == ("failed", 2, MESSAGE)


async def test_a_cancelled_document_can_be_retried_and_completes(
    client: httpx.AsyncClient, worker_env: WorkerFixture
) -> None:
    document_id = await worker_env.document()
    await cancel(client, worker_env, document_id)
    assert (await retry(client, worker_env, document_id)).status_code == 200
    await worker_env.process(document_id)
    assert worker_env.seed.rows(ROW, document_id) == [("completed", 3, None, "basic_complete", None)]


async def test_a_cancelled_upload_is_cleared_by_the_next_of_its_name(
    client: httpx.AsyncClient, worker_env: WorkerFixture
) -> None:
    document_id = await worker_env.document(name="a.txt")
    await cancel(client, worker_env, document_id)
    answer = await client.post(
        f"/api/v1/knowledge-bases/{worker_env.kb_id}/documents", files={"file": ("a.txt", b"better words")}
    )
    assert (answer.status_code, answer.json()["auto_cleared_document_id"]) == (201, str(document_id))
