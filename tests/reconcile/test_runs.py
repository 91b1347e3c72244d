"""Stalled runs, jobs and documents are queued again; those in progress are left alone."""

import json
from uuid import UUID

import pytest

from muniment.reconcile.drift import StoreName
from muniment.storage.db.base import now
from muniment.storage.tasks.port import RunRequest
from tests.reconcile.harness import ReconcileHarness

JOBS = "SELECT id, status::text, queue_name, queueing_lock, args->>'run_id' FROM procrastinate_jobs ORDER BY id"


def worker(reconcile_env: ReconcileHarness, heartbeat: str) -> int:
    """Add a worker with this last heartbeat."""
    reconcile_env.seed.execute(f"INSERT INTO procrastinate_workers (last_heartbeat) VALUES ({heartbeat})")
    return int(reconcile_env.seed.one("SELECT max(id) FROM procrastinate_workers"))


def run_of(reconcile_env: ReconcileHarness, document_id: UUID) -> tuple[str, int, str | None]:
    ((status, attempt, job),) = reconcile_env.seed.rows(
        "SELECT status, attempt, (SELECT j.status::text FROM procrastinate_jobs j WHERE j.id = r.job_id)"
        " FROM document_processing_runs r WHERE document_id = %s ORDER BY epoch DESC LIMIT 1",
        document_id,
    )
    return status, attempt, job


@pytest.mark.parametrize("status", ["queued", "in_progress"])
async def test_a_run_whose_job_is_gone_is_queued_again_and_carried_out(
    reconcile_env: ReconcileHarness, status: str
) -> None:
    document_id = await reconcile_env.document()
    reconcile_env.seed.execute("DELETE FROM procrastinate_jobs")
    reconcile_env.seed.execute("UPDATE document_processing_runs SET status = %s", status)

    assert await reconcile_env.drift() == {"runs/stuck": (1, 1)}
    assert run_of(reconcile_env, document_id) == (status, 0, None)
    assert await reconcile_env.drift(repair=True) == {"runs/stuck": (1, 0)}

    ((_, job_status, queue, lock, run_id),) = reconcile_env.seed.rows(JOBS)
    assert (job_status, queue, lock == run_id) == ("todo", "fast", True)
    assert await reconcile_env.drift(repair=True) == {}
    await reconcile_env.process(document_id)
    assert reconcile_env.worker_env.status(document_id) == "completed"


@pytest.mark.parametrize("ended_with", ["failed", "cancelled", "aborted", "succeeded"])
async def test_a_job_that_has_ended_does_not_carry_a_run(reconcile_env: ReconcileHarness, ended_with: str) -> None:
    await reconcile_env.document()
    reconcile_env.seed.execute("ALTER TABLE procrastinate_jobs DISABLE TRIGGER USER")
    reconcile_env.seed.execute(f"UPDATE procrastinate_jobs SET status = '{ended_with}'")
    assert await reconcile_env.drift(repair=True) == {"runs/stuck": (1, 0)}
    assert await reconcile_env.drift() == {}


@pytest.mark.parametrize("heartbeat", [None, "now() - interval '1 day'"], ids=["forgotten", "silent"])
async def test_a_run_of_a_worker_that_died_is_taken_from_it(
    reconcile_env: ReconcileHarness, heartbeat: str | None
) -> None:
    document_id = await reconcile_env.document()
    worker_id = worker(reconcile_env, heartbeat) if heartbeat else None
    reconcile_env.seed.execute("UPDATE procrastinate_jobs SET status = 'doing', worker_id = %s", worker_id)
    reconcile_env.seed.execute("UPDATE document_processing_runs SET status = 'in_progress', attempt = 1")

    assert await reconcile_env.drift(repair=True) == {"runs/stuck": (1, 0)}

    assert [row[1] for row in reconcile_env.seed.rows(JOBS)] == ["todo"]
    assert run_of(reconcile_env, document_id) == ("in_progress", 1, "todo")
    assert await reconcile_env.drift() == {}


async def test_a_run_of_a_worker_that_lives_is_left_alone(reconcile_env: ReconcileHarness) -> None:
    document_id = await reconcile_env.document()
    reconcile_env.seed.execute(
        "UPDATE procrastinate_jobs SET status = 'doing', worker_id = %s", worker(reconcile_env, "now()")
    )
    reconcile_env.seed.execute("UPDATE document_processing_runs SET status = 'in_progress', attempt = 1")
    before = reconcile_env.seed.rows(JOBS)
    assert await reconcile_env.drift(repair=True) == {}
    assert reconcile_env.seed.rows(JOBS) == before
    assert run_of(reconcile_env, document_id) == ("in_progress", 1, "doing")


async def test_a_run_that_died_in_isolation_fails_when_it_is_queued_again(reconcile_env: ReconcileHarness) -> None:
    document_id = await reconcile_env.document()
    reconcile_env.seed.execute("DELETE FROM procrastinate_jobs")
    deaths = [
        {"process": "worker", "attempt": number, "worker_id": None, "is_isolated": number == 3, "at": now().isoformat()}
        for number in (1, 2, 3)
    ]
    reconcile_env.seed.execute(
        "UPDATE document_processing_runs SET status = 'in_progress', attempt = 3, deaths = %s", json.dumps(deaths)
    )
    assert await reconcile_env.drift(repair=True) == {"runs/stuck": (1, 0)}
    await reconcile_env.process(document_id)
    assert reconcile_env.worker_env.status(document_id) == "failed"
    assert await reconcile_env.drift() == {}


async def test_an_open_run_of_an_epoch_that_is_over_is_ended(reconcile_env: ReconcileHarness) -> None:
    document_id = await reconcile_env.completed()
    reconcile_env.seed.execute("UPDATE documents SET epoch = 2")
    await reconcile_env.worker_env.enqueue(document_id, RunRequest(purpose="reread"), epoch=2)
    reconcile_env.seed.execute("DELETE FROM procrastinate_jobs")
    reconcile_env.seed.execute("UPDATE documents SET epoch = 3")

    assert await reconcile_env.drift(repair=True) == {"runs/stuck": (1, 0)}

    assert run_of(reconcile_env, document_id) == ("failed", 0, None)
    assert reconcile_env.seed.rows(JOBS) == []
    assert await reconcile_env.drift() == {}


async def test_a_job_without_a_run_is_taken_out_of_the_queue(reconcile_env: ReconcileHarness) -> None:
    document_id, another = await reconcile_env.document(), await reconcile_env.document(b"other bytes")
    reconcile_env.seed.execute("DELETE FROM document_processing_runs WHERE document_id = %s", another)
    reconcile_env.seed.execute("UPDATE documents SET status = 'failed' WHERE id = %s", another)
    assert await reconcile_env.drift() == {"jobs/orphaned": (1, 1)}
    assert await reconcile_env.drift(repair=True) == {"jobs/orphaned": (1, 0)}
    assert [row[4] for row in reconcile_env.seed.rows(JOBS)] == [str(reconcile_env.worker_env.job(document_id).run_id)]
    assert await reconcile_env.drift() == {}


async def test_a_pending_document_without_a_job_is_queued(reconcile_env: ReconcileHarness) -> None:
    document_id = await reconcile_env.document()
    reconcile_env.seed.execute("DELETE FROM procrastinate_jobs")
    reconcile_env.seed.execute("DELETE FROM document_processing_runs")
    assert await reconcile_env.drift() == {"documents/stuck": (1, 1)}
    assert await reconcile_env.drift(repair=True) == {"documents/stuck": (1, 0)}
    assert await reconcile_env.drift() == {}
    await reconcile_env.process(document_id)
    assert reconcile_env.worker_env.status(document_id) == "completed"
    assert [line["action"] for line in reconcile_env.seed.audit_lines()] == ["document_retried"]


async def test_a_document_whose_run_ended_without_it_gets_another_of_a_new_epoch(
    reconcile_env: ReconcileHarness,
) -> None:
    document_id = await reconcile_env.document()
    reconcile_env.seed.execute("DELETE FROM procrastinate_jobs")
    reconcile_env.seed.execute("UPDATE document_processing_runs SET status = 'failed', ended_at = now()")
    reconcile_env.seed.execute("UPDATE documents SET status = 'processing'")
    assert await reconcile_env.drift(repair=True) == {"documents/stuck": (1, 0)}
    assert reconcile_env.seed.one("SELECT epoch FROM documents") == 2
    assert await reconcile_env.drift() == {}
    await reconcile_env.process(document_id)
    assert reconcile_env.worker_env.status(document_id) == "completed"


async def test_a_document_that_moved_on_between_look_and_repair_is_left_alone(reconcile_env: ReconcileHarness) -> None:
    """The decision is made again with the row locked."""
    await reconcile_env.document()
    reconcile_env.seed.execute("DELETE FROM procrastinate_jobs")
    reconciliation = reconcile_env.runner()
    comparisons = {comparison.store: comparison for comparison in reconciliation.checks}
    scope = await reconcile_env.scope()
    (run,) = [drift async for drift in comparisons[StoreName.RUNS].scan(scope)]
    reconcile_env.seed.execute("DELETE FROM document_processing_runs")
    (document,) = [drift async for drift in comparisons[StoreName.DOCUMENTS].scan(scope)]
    reconcile_env.seed.execute("UPDATE documents SET status = 'failed'")
    for drift in (run, document):
        assert await comparisons[drift.store].confirm(scope, [drift]) == []
        assert not await comparisons[drift.store].repair(scope, drift)
    assert reconcile_env.seed.rows(JOBS) == []


@pytest.mark.parametrize("reconcile_env", ["pgvector", "qdrant"], indirect=True)
async def test_documents_without_passages_of_the_active_model_are_reported(reconcile_env: ReconcileHarness) -> None:
    document_id = await reconcile_env.completed()
    reconcile_env.seed.execute("UPDATE indexing_variants SET is_active = false")
    reconcile_env.seed.insert("indexing_variants", fingerprint="another", model="another", dimensions=3, is_active=True)
    assert await reconcile_env.drift(repair=True) == {"artifacts/missing": (1, 1)}
    reconcile_env.seed.execute("UPDATE documents SET epoch = 2 WHERE id = %s", document_id)
    await reconcile_env.worker_env.enqueue(document_id, RunRequest(purpose="reread"), epoch=2)
    assert await reconcile_env.drift() == {}, "somebody is at it"
