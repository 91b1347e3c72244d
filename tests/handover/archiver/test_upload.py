"""Tasks that never end or are lost: the upload is located, then repeated."""

from datetime import timedelta

from muniment.handover.archiver.pass_context import PassOutcome
from tests.handover.archiver.environment import ArchiverEnvironment
from tests.support.fake_paperless.outcomes import stuck_pending, stuck_started


async def test_a_task_that_is_not_done_is_followed_by_the_next_pass(archiver_env: ArchiverEnvironment) -> None:
    key = await archiver_env.put()
    archiver_env.server.set(worker="stopped")

    first = await archiver_env.run()
    noted = await archiver_env.sidecar(key)
    archiver_env.server.set(worker="running")
    second = await archiver_env.run()

    assert first.actions == {"left": 1}
    assert first.outcome is PassOutcome.DONE
    assert noted.task_id is not None
    assert noted.retry_count == 0
    assert second.actions == {"archived": 1}
    assert len(archiver_env.server.requests("upload")) == 1


async def test_one_that_waits_over_its_deadline_is_uploaded_again_and_counts(
    archiver_env_v3: ArchiverEnvironment,
) -> None:
    key = await archiver_env_v3.put()
    for outcome in (stuck_pending(), stuck_started()):
        archiver_env_v3.server.next_uploads(outcome)
    await archiver_env_v3.run()
    archiver_env_v3.clock.advance(hours=23)
    await archiver_env_v3.run()
    assert len(archiver_env_v3.server.requests("upload")) == 1

    archiver_env_v3.clock.advance(hours=2)
    await archiver_env_v3.run()
    assert (await archiver_env_v3.sidecar(key)).retry_count == 1
    archiver_env_v3.clock.advance(hours=25)
    report = await archiver_env_v3.run()

    assert report.actions == {"archived": 1}
    assert len(archiver_env_v3.server.requests("upload")) == 3


async def test_a_task_that_never_ends_is_a_dead_letter_at_the_third_time(archiver_env_v3: ArchiverEnvironment) -> None:
    await archiver_env_v3.put()
    archiver_env_v3.server.next_uploads(stuck_pending(), times=9)

    for _ in range(4):
        report = await archiver_env_v3.run(task_deadline=timedelta(hours=1))
        archiver_env_v3.clock.advance(hours=2)

    assert report.actions == {"dead_letter": 1}
    assert len(archiver_env_v3.server.requests("upload")) == 3


async def test_a_forgotten_task_is_found_by_its_document(archiver_env: ArchiverEnvironment) -> None:
    key = await archiver_env.put()
    archiver_env.server.set(worker="stopped")
    await archiver_env.run()
    archiver_env.server.set(worker="running")
    archiver_env.server.objects("tags")  # any request advances the worker
    archiver_env.server.delete_tasks()

    report = await archiver_env.run()

    assert report.actions == {"archived": 1}
    assert [document.sha256 for document in archiver_env.documents()] == [key.sha256]


async def test_a_forgotten_task_that_came_to_nothing_is_uploaded_again_and_counts(
    archiver_env: ArchiverEnvironment,
) -> None:
    await archiver_env.put()
    archiver_env.server.next_uploads(stuck_pending())
    await archiver_env.run()
    archiver_env.server.delete_tasks()

    report = await archiver_env.run()

    assert report.actions == {"archived": 1}
    assert len(archiver_env.server.requests("upload")) == 2
    assert archiver_env.office.rows("retry_count") == [1]


async def test_a_worker_that_is_away_does_not_hold_a_pass_for_ever(archiver_env_v3: ArchiverEnvironment) -> None:
    for number in range(12):
        await archiver_env_v3.put(str(number))
    archiver_env_v3.server.set(worker="stopped")

    before = archiver_env_v3.clock.ahead
    report = await archiver_env_v3.run(concurrency=1)

    assert report.actions == {"left": 12}
    assert archiver_env_v3.clock.ahead - before < timedelta(minutes=6)
