"""Tasks that never end or are lost: the upload is located, then repeated."""

from datetime import timedelta

from muniment.handover.archiver.pass_context import PassOutcome
from tests.handover.archiver.environment import ArchiverEnvironment
from tests.support.fake_paperless.outcomes import stuck_pending, stuck_started


async def test_a_task_that_is_not_done_is_followed_by_the_next_pass(stage: ArchiverEnvironment) -> None:
    key = await stage.put()
    stage.server.set(worker="stopped")

    first = await stage.run()
    noted = await stage.sidecar(key)
    stage.server.set(worker="running")
    second = await stage.run()

    assert first.actions == {"left": 1}
    assert first.outcome is PassOutcome.DONE
    assert noted.task_id is not None
    assert noted.retry_count == 0
    assert second.actions == {"archived": 1}
    assert len(stage.server.requests("upload")) == 1


async def test_one_that_waits_over_its_deadline_is_uploaded_again_and_counts(stage3: ArchiverEnvironment) -> None:
    key = await stage3.put()
    for outcome in (stuck_pending(), stuck_started()):
        stage3.server.next_uploads(outcome)
    await stage3.run()
    stage3.clock.advance(hours=23)
    await stage3.run()
    assert len(stage3.server.requests("upload")) == 1

    stage3.clock.advance(hours=2)
    await stage3.run()
    assert (await stage3.sidecar(key)).retry_count == 1
    stage3.clock.advance(hours=25)
    report = await stage3.run()

    assert report.actions == {"archived": 1}
    assert len(stage3.server.requests("upload")) == 3


async def test_a_task_that_never_ends_is_a_dead_letter_at_the_third_time(stage3: ArchiverEnvironment) -> None:
    await stage3.put()
    stage3.server.next_uploads(stuck_pending(), times=9)

    for _ in range(4):
        report = await stage3.run(task_deadline=timedelta(hours=1))
        stage3.clock.advance(hours=2)

    assert report.actions == {"dead_letter": 1}
    assert len(stage3.server.requests("upload")) == 3


async def test_a_forgotten_task_is_found_by_its_document(stage: ArchiverEnvironment) -> None:
    key = await stage.put()
    stage.server.set(worker="stopped")
    await stage.run()
    stage.server.set(worker="running")
    stage.server.objects("tags")  # any request lets the worker work
    stage.server.delete_tasks()

    report = await stage.run()

    assert report.actions == {"archived": 1}
    assert [document.sha256 for document in stage.documents()] == [key.sha256]


async def test_a_forgotten_task_that_came_to_nothing_is_uploaded_again_and_counts(stage: ArchiverEnvironment) -> None:
    await stage.put()
    stage.server.next_uploads(stuck_pending())
    await stage.run()
    stage.server.delete_tasks()

    report = await stage.run()

    assert report.actions == {"archived": 1}
    assert len(stage.server.requests("upload")) == 2
    assert stage.office.rows("retry_count") == [1]


async def test_a_worker_that_is_away_does_not_hold_a_pass_for_ever(stage3: ArchiverEnvironment) -> None:
    for number in range(12):
        await stage3.put(str(number))
    stage3.server.set(worker="stopped")

    before = stage3.clock.ahead
    report = await stage3.run(concurrency=1)

    assert report.actions == {"left": 12}
    assert stage3.clock.ahead - before < timedelta(minutes=6)
