"""Errors of Paperless, and whether they count against the job (docs/contracts.md#archiver-errors)."""

from collections.abc import Callable
from uuid import uuid4

import pytest

from muniment.handover.archiver.pass_context import PassOutcome
from tests.handover.archiver.environment import ArchiverEnvironment
from tests.support.fake_paperless.faults import (
    Fault,
    empty_success,
    forbidden_text,
    hanging,
    html_with_200,
    lost_answer,
    not_acceptable,
    not_found_page,
    refused,
    server_error,
    throttled,
    to_login,
    truncated_json,
    unauthorized,
    wrong_method,
)
from tests.support.fake_paperless.outcomes import Outcome as TaskOutcome
from tests.support.fake_paperless.outcomes import database_locked, half_written, without_id, worker_lost

STOPPING = [unauthorized, forbidden_text, to_login, not_found_page, wrong_method, not_acceptable]
UNCLEAR: list[Callable[[], Fault]] = [
    server_error,
    lambda: server_error(503),
    html_with_200,
    lambda: html_with_200(is_applied=True),
    truncated_json,
    empty_success,
    lost_answer,
    lambda: server_error(is_applied=True),
]


@pytest.mark.parametrize("fault", STOPPING, ids=lambda fault: fault.__name__)
async def test_what_no_other_job_would_survive_stops_the_line_and_blames_nobody(
    stage3: ArchiverEnvironment, fault: Callable[[], Fault]
) -> None:
    keys = [await stage3.put(str(number)) for number in range(3)]
    stage3.server.fault("upload", fault(), times=None)

    report = await stage3.run(concurrency=1)
    again = await stage3.run(concurrency=1)

    assert report.outcome is again.outcome is PassOutcome.NEEDS_OPERATOR
    assert len(stage3.server.requests("upload")) == 2
    assert [(await stage3.sidecar(key)).retry_count for key in keys] == [0, 0, 0]
    assert stage3.notifier.titles == ["P1 Muniment archiver: line-stopped"]


@pytest.mark.parametrize("fault", UNCLEAR, ids=range(len(UNCLEAR)))
async def test_an_unclear_outcome_is_looked_up_before_it_is_tried_again(
    stage: ArchiverEnvironment, fault: Callable[[], Fault]
) -> None:
    await stage.put()
    stage.server.fault("upload", fault())

    report = await stage.run()

    assert report.actions == {"archived": 1}
    assert len(stage.documents()) == 1
    assert stage.server.documents(is_trashed=True) == []


async def test_an_upload_whose_answer_was_lost_and_that_waits_is_found_by_its_task(stage3: ArchiverEnvironment) -> None:
    key = await stage3.put()
    stage3.server.set(worker="stopped")
    stage3.server.fault("upload", lost_answer())

    report = await stage3.run()

    assert report.actions == {"left": 1}
    assert (await stage3.sidecar(key)).task_id is not None
    assert len(stage3.server.requests("upload")) == 1


async def test_an_upload_that_hangs_is_given_up_and_looked_for(stage3: ArchiverEnvironment) -> None:
    await stage3.put()
    stage3.server.fault("upload", hanging(is_applied=True))

    await stage3.run()

    assert len(stage3.documents()) == 1
    assert await stage3.waiting() == []


async def test_tries_within_a_pass_are_three_with_two_and_four_seconds_between(stage3: ArchiverEnvironment) -> None:
    await stage3.put()
    stage3.server.fault("upload", server_error(), times=None)

    await stage3.run()

    assert len(stage3.server.requests("upload")) == 3
    assert stage3.clock.slept == [2, 4]


async def test_what_fails_while_others_are_accepted_counts(stage3: ArchiverEnvironment) -> None:
    first, _ = await stage3.put("first"), await stage3.put("second")
    stage3.server.fault("upload", server_error(), times=3)

    report = await stage3.run(concurrency=1)

    assert report.actions == {"failed": 1, "archived": 1}
    sidecar = await stage3.sidecar(first)
    assert sidecar.retry_count == 1
    assert sidecar.last_error == "Paperless failed with status 500"
    assert (first.pdf, "pending", 1, sidecar.last_error) in stage3.office.rows(
        "r2_object_key, archive_status, retry_count, last_error"
    )


async def test_at_three_it_is_a_dead_letter_with_its_reason_and_people_are_told(stage3: ArchiverEnvironment) -> None:
    first = await stage3.put("first", retry_count=2)
    await stage3.put("second")
    stage3.server.fault("upload", server_error(), times=3)

    report = await stage3.run(concurrency=1)

    assert report.dead_letters == 1
    assert await stage3.waiting() == []
    assert await stage3.waiting(stage3.office.dead_letters) == [first.sidecar, first.pdf]
    assert (await stage3.sidecar(first, stage3.office.dead_letters)).last_error == "Paperless failed with status 500"
    assert stage3.rows()[first.pdf] == "failed"
    assert stage3.notifier.titles == ["P1 Muniment archiver: dead-letters"]


@pytest.mark.timeout(600)
async def test_a_day_without_redis_sends_nothing_to_the_dead_letters(stage: ArchiverEnvironment) -> None:
    keys = [await stage.put(str(number)) for number in range(7)]
    stage.server.set(redis=False)

    for _ in range(8):
        report = await stage.run(concurrency=2)
        assert report.outcome is PassOutcome.RETRY_LATER
        stage.clock.advance(hours=3)
    assert [(await stage.sidecar(key)).retry_count for key in keys] == [0] * 7

    stage.server.set(redis=True)
    await stage.run()
    assert await stage.waiting() == []
    assert len(stage.documents()) == 7


async def test_a_job_alone_counts_once_a_day(stage3: ArchiverEnvironment) -> None:
    key = await stage3.put()
    stage3.server.fault("upload", server_error(), times=None)

    counts = []
    for _ in range(5):
        await stage3.run()
        counts.append((await stage3.sidecar(key)).retry_count)
        stage3.clock.advance(hours=11)

    assert counts == [1, 1, 1, 2, 2]


async def test_a_pass_in_which_nothing_is_accepted_ends_early(stage3: ArchiverEnvironment) -> None:
    for number in range(9):
        await stage3.put(str(number))
    stage3.server.fault("upload", server_error(), times=None)

    report = await stage3.run(concurrency=1)

    assert report.outcome is PassOutcome.RETRY_LATER
    assert report.actions == {"failed": 5}


async def test_a_few_files_that_paperless_chokes_on_do_not_hold_up_the_others(stage3: ArchiverEnvironment) -> None:
    for number in range(30):
        await stage3.put(str(number))
    stage3.server.fault("upload", server_error(), times=6)  # the two oldest, all their tries

    report = await stage3.run(concurrency=1)

    assert report.actions == {"failed": 2, "archived": 28}


async def test_a_throttled_job_waits_as_it_was_told(stage3: ArchiverEnvironment) -> None:
    await stage3.put()
    stage3.server.fault("upload", throttled("7"))
    stage3.server.fault("upload", throttled())

    report = await stage3.run()

    assert report.actions == {"archived": 1}
    assert stage3.clock.slept == [7, 4]


@pytest.mark.parametrize("fault", [throttled("31"), throttled()], ids=["too long", "again and again"])
async def test_who_is_throttled_for_longer_is_left_to_the_next_pass_and_not_blamed(
    stage3: ArchiverEnvironment, fault: Fault
) -> None:
    key, _ = await stage3.put("first"), await stage3.put("second")
    stage3.server.fault("upload", fault, times=None)

    report = await stage3.run(concurrency=1)

    assert report.actions == {"left": 1}
    assert (await stage3.sidecar(key)).retry_count == 0
    assert sum(stage3.clock.slept) == (0 if fault.headers else 14)


@pytest.mark.parametrize("status", [400, 413, 415])
async def test_a_refused_file_is_a_dead_letter_at_once(stage3: ArchiverEnvironment, status: int) -> None:
    key = await stage3.put()
    stage3.server.fault("upload", refused(status))

    report = await stage3.run()

    assert report.actions == {"dead_letter": 1}
    assert stage3.rows()[key.pdf] == "failed"
    assert len(stage3.server.requests("upload")) == 1


async def test_a_task_that_fails_for_the_files_sake_is_a_dead_letter(stage: ArchiverEnvironment) -> None:
    key = await stage.put()
    stage.server.next_uploads(half_written("{name}: Unsupported mime type application/octet-stream"))

    report = await stage.run()

    assert report.actions == {"dead_letter": 1}
    error = (await stage.sidecar(key, stage.office.dead_letters)).last_error
    assert error is not None
    assert "Unsupported mime type" in error


@pytest.mark.parametrize("outcome", [database_locked(), worker_lost()], ids=["locked", "lost"])
async def test_a_task_that_fails_for_no_fault_of_the_file_is_tried_again(
    stage3: ArchiverEnvironment, outcome: TaskOutcome
) -> None:
    key = await stage3.put()
    stage3.server.next_uploads(outcome)

    first = await stage3.run()
    assert first.actions == {"failed": 1}
    assert (await stage3.sidecar(key)).attempt_id is None
    second = await stage3.run()

    assert second.actions == {"archived": 1}
    assert len(stage3.documents()) == 1


async def test_a_success_that_does_not_say_of_what_is_found_by_our_tags(stage3: ArchiverEnvironment) -> None:
    await stage3.put()
    stage3.server.next_uploads(without_id())

    report = await stage3.run()

    assert report.actions == {"archived": 1}


async def test_nothing_else_is_touched_when_the_api_does_not_answer(stage3: ArchiverEnvironment) -> None:
    key = await stage3.put()
    archiver = stage3.archiver()
    await archiver.api._client.aclose()
    archiver.api = type(archiver.api)("http://127.0.0.1:9", "key")

    report = await archiver.run()
    await archiver.paperless.close()
    await archiver.api.close()

    assert report.outcome is PassOutcome.RETRY_LATER
    assert stage3.server.requests("upload") == []
    assert (await stage3.sidecar(key)).retry_count == 0


async def test_a_wrong_key_stops_the_line_and_makes_no_dead_letter(stage3: ArchiverEnvironment) -> None:
    await stage3.put()
    archiver = stage3.archiver()
    await archiver.api.close()
    archiver.api = type(archiver.api)(stage3.office.api.url, "another key")

    report = await archiver.run()
    await archiver.paperless.close()
    await archiver.api.close()

    assert report.outcome is PassOutcome.NEEDS_OPERATOR
    assert len(await stage3.waiting()) == 2


async def test_a_job_of_an_organization_that_muniment_does_not_know_is_a_dead_letter(
    stage3: ArchiverEnvironment,
) -> None:
    await stage3.put(organization_id=uuid4())

    report = await stage3.run()

    assert report.actions == {"dead_letter": 1}
    assert stage3.documents() == []
