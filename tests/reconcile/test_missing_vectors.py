"""A text without vectors and without a job is found, and its vectors are queued again."""

from tests.reconcile.harness import ReconcileHarness
from tests.support.vectors import waiting_embeddings


async def text_without_vectors(reconcile_env: ReconcileHarness) -> None:
    document_id = await reconcile_env.document()
    worker_env = reconcile_env.worker_env
    await worker_env.worker()(worker_env.job(document_id))
    reconcile_env.seed.execute("DELETE FROM procrastinate_jobs WHERE task_name = 'processing.run'")


async def test_a_job_that_waits_is_no_drift(reconcile_env: ReconcileHarness) -> None:
    await text_without_vectors(reconcile_env)
    later = "UPDATE procrastinate_jobs SET scheduled_at = now() + interval '1 hour' WHERE task_name = 'index.embed'"
    reconcile_env.seed.execute(later)
    assert await reconcile_env.drift() == {}


async def test_a_job_of_a_worker_that_died_is_queued_again(reconcile_env: ReconcileHarness) -> None:
    await text_without_vectors(reconcile_env)
    (job,) = waiting_embeddings(reconcile_env.seed)
    reconcile_env.seed.execute("INSERT INTO procrastinate_workers DEFAULT VALUES")
    reconcile_env.seed.execute(
        "UPDATE procrastinate_jobs SET status = 'doing', worker_id = (SELECT max(id) FROM procrastinate_workers)"
    )
    assert await reconcile_env.drift(repair=True) == {}
    reconcile_env.seed.execute("UPDATE procrastinate_workers SET last_heartbeat = now() - interval '1 day'")
    assert await reconcile_env.drift(repair=True) == {"vectors/overdue": (1, 0)}
    assert waiting_embeddings(reconcile_env.seed) == [job]


async def test_a_text_without_vectors_and_without_a_job_is_queued_again(reconcile_env: ReconcileHarness) -> None:
    await text_without_vectors(reconcile_env)
    (job,) = waiting_embeddings(reconcile_env.seed)
    reconcile_env.seed.execute("DELETE FROM procrastinate_jobs WHERE task_name = 'index.embed'")

    assert await reconcile_env.drift() == {"vectors/overdue": (1, 1)}
    assert await reconcile_env.drift(repair=True) == {"vectors/overdue": (1, 0)}

    assert waiting_embeddings(reconcile_env.seed) == [job]
    assert await reconcile_env.drift() == {}
    await reconcile_env.worker_env.embed()
    assert reconcile_env.seed.one("SELECT embedded_at IS NOT NULL FROM artifact_indexes")
