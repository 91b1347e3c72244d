"""Abandoned uploads that arrive later leave no duplicates in Paperless."""

from collections.abc import Callable

import pytest

from muniment.handover.archiver.cleanup import CHECKS_PER_PASS
from muniment.handover.archiver.upload import ABANDONED_PREFIX
from muniment.handover.job_key import JobKey
from tests.handover.archiver.environment import ArchiverEnvironment
from tests.support.fake_paperless.outcomes import stuck_pending


async def given_up(stage: ArchiverEnvironment, *, by: Callable[[ArchiverEnvironment], object]) -> JobKey:
    """A job that was archived by its second upload, while the first still waits in Paperless."""
    key = await stage.put()
    stage.server.next_uploads(stuck_pending())
    await stage.run()
    by(stage)
    await stage.run()
    assert len(stage.documents()) == 1
    assert await stage.waiting() == []
    return key


async def notes(stage: ArchiverEnvironment) -> list[str]:
    return [info.key async for info in stage.office.queue.list(ABANDONED_PREFIX)]


def a_day_later(stage: ArchiverEnvironment) -> None:
    stage.clock.advance(hours=25)


def an_upgrade(stage: ArchiverEnvironment) -> None:
    stage.server.delete_tasks()


@pytest.mark.parametrize("by", [a_day_later, an_upgrade])
async def test_a_late_upload_is_put_away_behind_the_proven_one(
    stage: ArchiverEnvironment, by: Callable[[ArchiverEnvironment], object]
) -> None:
    await given_up(stage, by=by)
    (proven,) = stage.documents()
    stage.server.release()

    report = await stage.run()

    assert [document.id for document in stage.documents()] == [proven.id]
    assert len(report.warnings) == len(stage.server.documents(is_trashed=True))  # 2.x refuses it itself


@pytest.mark.parametrize("by", [a_day_later, an_upgrade])
async def test_it_is_reported_once_and_then_forgotten(
    stage3: ArchiverEnvironment, by: Callable[[ArchiverEnvironment], object]
) -> None:
    await given_up(stage3, by=by)
    stage3.server.release()

    first, second = await stage3.run(), await stage3.run()

    assert (len(first.warnings), len(second.warnings)) == (1, 0)
    assert await notes(stage3) == []


async def test_it_is_watched_for_as_long_as_it_may_arrive(stage3: ArchiverEnvironment) -> None:
    await given_up(stage3, by=a_day_later)
    stage3.clock.advance(days=29)
    await stage3.run()
    assert len(await notes(stage3)) == 1

    stage3.clock.advance(days=2)
    await stage3.run()

    assert await notes(stage3) == []


async def test_what_arrives_for_a_job_that_still_waits_is_its_document(stage3: ArchiverEnvironment) -> None:
    await stage3.put()
    stage3.server.next_uploads(stuck_pending(), times=2)
    await stage3.run()
    a_day_later(stage3)
    await stage3.run()
    stage3.server.release()

    report = await stage3.run()

    assert report.actions == {"archived": 1}
    assert len(stage3.documents()) == 1
    await stage3.run()
    assert len(stage3.documents()) == 1
    assert await notes(stage3) == []


async def test_a_note_that_nobody_can_read_is_thrown_away(stage3: ArchiverEnvironment) -> None:
    for data in (b"", b"[]", b"{}", b'{"r2Key": "elsewhere", "fileName": "", "taskId": "", "givenUpAt": "2026-01-01"}'):
        await stage3.write(f"{ABANDONED_PREFIX}{len(data)}.json", data)

    await stage3.run()

    assert await notes(stage3) == []


async def test_a_pass_looks_at_some_of_many(stage3: ArchiverEnvironment) -> None:
    for number in range(CHECKS_PER_PASS + 5):
        await stage3.write(f"{ABANDONED_PREFIX}{number}.json", b"")

    await stage3.run()
    assert len(await notes(stage3)) == 5
    await stage3.run()

    assert await notes(stage3) == []
