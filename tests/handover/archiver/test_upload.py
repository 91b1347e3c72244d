"""Tasks that end late, never, or are lost: an upload is repeated only when Paperless has certainly skipped it."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from muniment.handover.archiver.pass_context import PassOutcome
from tests.handover.archiver.environment import ArchiverEnvironment
from tests.support.fake_paperless.faults import server_error
from tests.support.fake_paperless.outcomes import Outcome, stuck_pending, stuck_started


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


async def test_days_without_paperless_worker_repeat_no_upload_and_make_no_dead_letter(
    archiver_env: ArchiverEnvironment,
) -> None:
    await archiver_env.put("imported before the worker stopped")
    await archiver_env.run()
    keys = [await archiver_env.put(str(number)) for number in range(3)]
    archiver_env.server.set(worker="stopped")
    await archiver_env.run()

    for _ in range(8):
        archiver_env.clock.advance(hours=12)
        archiver_env.server.add_system_task("check_sanity")  # an admin looks for the cause
        report = await archiver_env.run()
        assert report.actions == {"left": 3}
        assert report.outcome is PassOutcome.RETRY_LATER

    assert len(archiver_env.server.requests("upload")) == 4
    assert [(await archiver_env.sidecar(key)).retry_count for key in keys] == [0, 0, 0]
    assert archiver_env.notifier.titles == ["P1 Muniment archiver: consumer_stalled"]

    archiver_env.server.set(worker="running")
    report = await archiver_env.run()

    assert report.actions == {"archived": 3}
    assert report.outcome is PassOutcome.DONE
    assert set(archiver_env.rows().values()) == {"archived"}
    assert len(archiver_env.documents()) == 4
    assert archiver_env.server.documents(is_trashed=True) == []


async def test_a_slow_worker_that_still_finishes_tasks_is_not_reported_as_stalled(
    archiver_env_v3: ArchiverEnvironment,
) -> None:
    await archiver_env_v3.put("waits")
    archiver_env_v3.server.next_uploads(stuck_pending())
    await archiver_env_v3.run()
    archiver_env_v3.clock.advance(hours=2)
    await archiver_env_v3.put("is processed")

    report = await archiver_env_v3.run()

    assert report.actions == {"left": 1, "archived": 1}
    assert report.outcome is PassOutcome.DONE
    assert archiver_env_v3.notifier.titles == []


async def test_an_open_upload_whose_task_cannot_be_read_loses_no_attempt(
    archiver_env_v3: ArchiverEnvironment,
) -> None:
    keys = [await archiver_env_v3.put("first")]
    archiver_env_v3.server.set(worker="stopped")
    await archiver_env_v3.run()
    keys.append(await archiver_env_v3.put("accepted in the same pass"))
    # The first call of a pass checks the permission to read tasks.
    archiver_env_v3.server.fault("tasks.list", server_error(), times=None, skip=1)

    report = await archiver_env_v3.run()

    assert report.actions == {"failed": 2}
    assert [(await archiver_env_v3.sidecar(key)).retry_count for key in keys] == [0, 0]
    archiver_env_v3.server.clear()
    archiver_env_v3.server.set(worker="running")
    assert (await archiver_env_v3.run()).actions == {"archived": 2}
    assert len(archiver_env_v3.server.requests("upload")) == 2


async def skip_open_uploads(archiver_env: ArchiverEnvironment) -> None:
    """Let Paperless finish a later upload, and a day pass."""
    await archiver_env.put("another")
    await archiver_env.run()
    archiver_env.clock.advance(hours=25)


@pytest.mark.parametrize("outcome", [stuck_pending, stuck_started])
async def test_an_upload_that_paperless_has_skipped_for_a_day_is_repeated_and_counts_once(
    archiver_env_v3: ArchiverEnvironment, outcome: Callable[[], Outcome]
) -> None:
    key = await archiver_env_v3.put()
    archiver_env_v3.server.next_uploads(outcome())
    await archiver_env_v3.run()
    await skip_open_uploads(archiver_env_v3)

    skipped = await archiver_env_v3.run()
    after = await archiver_env_v3.sidecar(key)
    last = await archiver_env_v3.run()

    assert skipped.actions == {"failed": 1}
    assert (after.retry_count, after.attempt_id) == (1, None)
    assert last.actions == {"archived": 1}
    assert len(archiver_env_v3.server.requests("upload")) == 3


async def test_an_upload_that_is_skipped_three_times_is_a_dead_letter(archiver_env_v3: ArchiverEnvironment) -> None:
    key = await archiver_env_v3.put(retry_count=2)
    archiver_env_v3.server.next_uploads(stuck_started())
    await archiver_env_v3.run()
    await skip_open_uploads(archiver_env_v3)

    report = await archiver_env_v3.run()

    assert report.actions == {"failed": 1, "dead_letter": 1}
    error = (await archiver_env_v3.sidecar(key, archiver_env_v3.office.dead_letters)).last_error
    assert error == "Paperless did not process the file although it processed later ones"


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
    key = await archiver_env.put()
    archiver_env.server.next_uploads(stuck_pending())
    await archiver_env.run()
    archiver_env.server.delete_tasks()
    assert (await archiver_env.run()).actions == {"left": 1}  # the file may still be processed

    await skip_open_uploads(archiver_env)
    await archiver_env.run()
    report = await archiver_env.run()

    assert report.actions == {"archived": 1}
    assert len(archiver_env.server.requests("upload")) == 3
    assert archiver_env.office.rows("retry_count", f"r2_object_key = '{key.pdf}'") == [1]


async def test_a_worker_that_is_away_does_not_hold_a_pass_for_ever(archiver_env_v3: ArchiverEnvironment) -> None:
    for number in range(12):
        await archiver_env_v3.put(str(number))
    archiver_env_v3.server.set(worker="stopped")

    before = archiver_env_v3.clock.ahead
    report = await archiver_env_v3.run(concurrency=1)

    assert report.actions == {"left": 12}
    assert archiver_env_v3.clock.ahead - before < timedelta(minutes=6)
