"""Abandoned uploads that arrive later leave no duplicates in Paperless."""

from collections.abc import Callable

import pytest

from muniment.handover.archiver.cleanup import CHECKS_PER_PASS
from muniment.handover.archiver.upload import ABANDONED_PREFIX
from muniment.handover.job_key import JobKey
from tests.handover.archiver.environment import ArchiverEnvironment
from tests.support.fake_paperless.outcomes import stuck_pending


async def abandon_first_upload(
    archiver_env: ArchiverEnvironment, *, by: Callable[[ArchiverEnvironment], object]
) -> JobKey:
    """A job that was archived by its second upload, while the first still waits in Paperless."""
    key = await archiver_env.put()
    archiver_env.server.next_uploads(stuck_pending())
    await archiver_env.run()
    by(archiver_env)
    await skip_open_uploads(archiver_env)
    await archiver_env.run()
    await archiver_env.run()
    assert len(archiver_env.documents()) == 2
    assert await archiver_env.waiting() == []
    return key


async def skip_open_uploads(archiver_env: ArchiverEnvironment) -> None:
    """Let Paperless finish a later upload, and a day pass."""
    await archiver_env.put("another")
    await archiver_env.run()
    archiver_env.clock.advance(hours=25)


async def notes(archiver_env: ArchiverEnvironment) -> list[str]:
    return [info.key async for info in archiver_env.office.queue.list(ABANDONED_PREFIX)]


def nothing(archiver_env: ArchiverEnvironment) -> None:
    """The task waits and is skipped."""


def an_upgrade(archiver_env: ArchiverEnvironment) -> None:
    archiver_env.server.delete_tasks()


@pytest.mark.parametrize("by", [nothing, an_upgrade])
async def test_a_late_upload_is_put_away_behind_the_proven_one(
    archiver_env: ArchiverEnvironment, by: Callable[[ArchiverEnvironment], object]
) -> None:
    await abandon_first_upload(archiver_env, by=by)
    proven = [document.id for document in archiver_env.documents()]
    archiver_env.server.release()

    report = await archiver_env.run()

    assert [document.id for document in archiver_env.documents()] == proven
    assert len(report.warnings) == len(archiver_env.server.documents(is_trashed=True))  # 2.x itself refuses it


@pytest.mark.parametrize("by", [nothing, an_upgrade])
async def test_it_is_reported_once_and_then_forgotten(
    archiver_env_v3: ArchiverEnvironment, by: Callable[[ArchiverEnvironment], object]
) -> None:
    await abandon_first_upload(archiver_env_v3, by=by)
    archiver_env_v3.server.release()

    first, second = await archiver_env_v3.run(), await archiver_env_v3.run()

    assert (len(first.warnings), len(second.warnings)) == (1, 0)
    assert await notes(archiver_env_v3) == []


async def test_it_is_watched_for_as_long_as_it_may_arrive(archiver_env_v3: ArchiverEnvironment) -> None:
    await abandon_first_upload(archiver_env_v3, by=nothing)
    archiver_env_v3.clock.advance(days=29)
    await archiver_env_v3.run()
    assert len(await notes(archiver_env_v3)) == 1

    archiver_env_v3.clock.advance(days=2)
    await archiver_env_v3.run()

    assert await notes(archiver_env_v3) == []


async def test_what_arrives_for_a_job_that_still_waits_is_its_document(archiver_env_v3: ArchiverEnvironment) -> None:
    await archiver_env_v3.put()
    archiver_env_v3.server.next_uploads(stuck_pending())
    await archiver_env_v3.run()
    await skip_open_uploads(archiver_env_v3)
    archiver_env_v3.server.next_uploads(stuck_pending())
    for _ in range(2):
        await archiver_env_v3.run()
    archiver_env_v3.server.release()

    report = await archiver_env_v3.run()

    assert report.actions == {"archived": 1}
    assert len(archiver_env_v3.documents()) == 2
    await archiver_env_v3.run()
    assert len(archiver_env_v3.documents()) == 2
    assert await notes(archiver_env_v3) == []


async def test_what_arrives_for_a_dead_letter_completes_it(archiver_env: ArchiverEnvironment) -> None:
    key = await archiver_env.put(retry_count=2)
    archiver_env.server.next_uploads(stuck_pending())
    await archiver_env.run()
    await skip_open_uploads(archiver_env)
    await archiver_env.run()
    assert archiver_env.rows()[key.pdf] == "failed"
    archiver_env.server.release()

    report = await archiver_env.run()

    assert report.actions == {"closed": 1}
    assert archiver_env.rows()[key.pdf] == "archived"
    assert key.sha256 in {document.sha256 for document in archiver_env.documents()}
    assert await archiver_env.waiting(archiver_env.office.dead_letters) == []
    assert await notes(archiver_env) == []


async def test_an_unreadable_note_is_discarded(archiver_env_v3: ArchiverEnvironment) -> None:
    for data in (b"", b"[]", b"{}", b'{"r2Key": "elsewhere", "fileName": "", "taskId": "", "givenUpAt": "2026-01-01"}'):
        await archiver_env_v3.write(f"{ABANDONED_PREFIX}{len(data)}.json", data)

    await archiver_env_v3.run()

    assert await notes(archiver_env_v3) == []


async def test_a_pass_looks_at_some_of_many(archiver_env_v3: ArchiverEnvironment) -> None:
    for number in range(CHECKS_PER_PASS + 5):
        await archiver_env_v3.write(f"{ABANDONED_PREFIX}{number}.json", b"")

    await archiver_env_v3.run()
    assert len(await notes(archiver_env_v3)) == 5
    await archiver_env_v3.run()

    assert await notes(archiver_env_v3) == []
