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
    archiver_env_v3: ArchiverEnvironment, fault: Callable[[], Fault]
) -> None:
    keys = [await archiver_env_v3.put(str(number)) for number in range(3)]
    archiver_env_v3.server.fault("upload", fault(), times=None)

    report = await archiver_env_v3.run(concurrency=1)
    again = await archiver_env_v3.run(concurrency=1)

    assert report.outcome is again.outcome is PassOutcome.NEEDS_OPERATOR
    assert len(archiver_env_v3.server.requests("upload")) == 2
    assert [(await archiver_env_v3.sidecar(key)).retry_count for key in keys] == [0, 0, 0]
    assert archiver_env_v3.notifier.titles == ["P1 Muniment archiver: line-stopped"]


@pytest.mark.parametrize("fault", UNCLEAR, ids=range(len(UNCLEAR)))
async def test_an_unclear_outcome_is_looked_up_before_it_is_tried_again(
    archiver_env: ArchiverEnvironment, fault: Callable[[], Fault]
) -> None:
    await archiver_env.put()
    archiver_env.server.fault("upload", fault())

    report = await archiver_env.run()

    assert report.actions == {"archived": 1}
    assert len(archiver_env.documents()) == 1
    assert archiver_env.server.documents(is_trashed=True) == []


async def test_an_upload_whose_answer_was_lost_and_that_waits_is_found_by_its_task(
    archiver_env_v3: ArchiverEnvironment,
) -> None:
    key = await archiver_env_v3.put()
    archiver_env_v3.server.set(worker="stopped")
    archiver_env_v3.server.fault("upload", lost_answer())

    report = await archiver_env_v3.run()

    assert report.actions == {"left": 1}
    assert (await archiver_env_v3.sidecar(key)).task_id is not None
    assert len(archiver_env_v3.server.requests("upload")) == 1


async def test_an_upload_that_hangs_is_given_up_and_looked_for(archiver_env_v3: ArchiverEnvironment) -> None:
    await archiver_env_v3.put()
    archiver_env_v3.server.fault("upload", hanging(is_applied=True))

    await archiver_env_v3.run()

    assert len(archiver_env_v3.documents()) == 1
    assert await archiver_env_v3.waiting() == []


async def test_a_server_error_is_retried_three_times_after_two_four_and_eight_seconds(
    archiver_env_v3: ArchiverEnvironment,
) -> None:
    await archiver_env_v3.put()
    archiver_env_v3.server.fault("upload", server_error(), times=None)

    await archiver_env_v3.run()

    assert len(archiver_env_v3.server.requests("upload")) == 4
    assert archiver_env_v3.clock.slept == [2, 4, 8]


async def test_what_fails_while_others_are_accepted_counts(archiver_env_v3: ArchiverEnvironment) -> None:
    first, _ = await archiver_env_v3.put("first"), await archiver_env_v3.put("second")
    archiver_env_v3.server.fault("upload", server_error(), times=4)

    report = await archiver_env_v3.run(concurrency=1)

    assert report.actions == {"failed": 1, "archived": 1}
    sidecar = await archiver_env_v3.sidecar(first)
    assert sidecar.retry_count == 1
    assert sidecar.last_error == "Paperless failed with status 500"
    assert (first.pdf, "pending", 1, sidecar.last_error) in archiver_env_v3.office.rows(
        "r2_object_key, archive_status, retry_count, last_error"
    )


async def test_at_three_it_is_a_dead_letter_with_its_reason_and_people_are_told(
    archiver_env_v3: ArchiverEnvironment,
) -> None:
    first = await archiver_env_v3.put("first", retry_count=2)
    await archiver_env_v3.put("second")
    archiver_env_v3.server.fault("upload", server_error(), times=4)

    report = await archiver_env_v3.run(concurrency=1)

    assert report.dead_letters == 1
    assert await archiver_env_v3.waiting() == []
    assert await archiver_env_v3.waiting(archiver_env_v3.office.dead_letters) == [first.sidecar, first.pdf]
    assert (
        await archiver_env_v3.sidecar(first, archiver_env_v3.office.dead_letters)
    ).last_error == "Paperless failed with status 500"
    assert archiver_env_v3.rows()[first.pdf] == "failed"
    assert archiver_env_v3.notifier.titles == ["P1 Muniment archiver: dead-letters"]


@pytest.mark.timeout(600)
async def test_a_day_without_redis_sends_nothing_to_the_dead_letters(archiver_env: ArchiverEnvironment) -> None:
    keys = [await archiver_env.put(str(number)) for number in range(7)]
    archiver_env.server.set(redis=False)

    for _ in range(8):
        report = await archiver_env.run(concurrency=2)
        assert report.outcome is PassOutcome.RETRY_LATER
        archiver_env.clock.advance(hours=3)
    assert [(await archiver_env.sidecar(key)).retry_count for key in keys] == [0] * 7

    archiver_env.server.set(redis=True)
    await archiver_env.run()
    assert await archiver_env.waiting() == []
    assert len(archiver_env.documents()) == 7


async def test_a_job_alone_counts_once_a_day(archiver_env_v3: ArchiverEnvironment) -> None:
    key = await archiver_env_v3.put()
    archiver_env_v3.server.fault("upload", server_error(), times=None)

    counts = []
    for _ in range(5):
        await archiver_env_v3.run()
        counts.append((await archiver_env_v3.sidecar(key)).retry_count)
        archiver_env_v3.clock.advance(hours=11)

    assert counts == [1, 1, 1, 2, 2]


async def test_a_pass_in_which_nothing_is_accepted_ends_early(archiver_env_v3: ArchiverEnvironment) -> None:
    for number in range(9):
        await archiver_env_v3.put(str(number))
    archiver_env_v3.server.fault("upload", server_error(), times=None)

    report = await archiver_env_v3.run(concurrency=1)

    assert report.outcome is PassOutcome.RETRY_LATER
    assert report.actions == {"failed": 5}


async def test_a_few_files_that_paperless_chokes_on_do_not_hold_up_the_others(
    archiver_env_v3: ArchiverEnvironment,
) -> None:
    for number in range(30):
        await archiver_env_v3.put(str(number))
    archiver_env_v3.server.fault("upload", server_error(), times=8)  # all attempts of the two oldest

    report = await archiver_env_v3.run(concurrency=1)

    assert report.actions == {"failed": 2, "archived": 28}


async def test_a_throttled_job_waits_as_it_was_told(archiver_env_v3: ArchiverEnvironment) -> None:
    await archiver_env_v3.put()
    archiver_env_v3.server.fault("upload", throttled("7"))
    archiver_env_v3.server.fault("upload", throttled())

    report = await archiver_env_v3.run()

    assert report.actions == {"archived": 1}
    assert archiver_env_v3.clock.slept == [7, 4]


@pytest.mark.parametrize("fault", [throttled("31"), throttled()], ids=["too long", "again and again"])
async def test_who_is_throttled_for_longer_is_left_to_the_next_pass_and_not_blamed(
    archiver_env_v3: ArchiverEnvironment, fault: Fault
) -> None:
    key, _ = await archiver_env_v3.put("first"), await archiver_env_v3.put("second")
    archiver_env_v3.server.fault("upload", fault, times=None)

    report = await archiver_env_v3.run(concurrency=1)

    assert report.actions == {"left": 1}
    assert (await archiver_env_v3.sidecar(key)).retry_count == 0
    assert sum(archiver_env_v3.clock.slept) == (0 if fault.headers else 14)


@pytest.mark.parametrize("status", [400, 413, 415])
async def test_a_refused_file_is_a_dead_letter_at_once(archiver_env_v3: ArchiverEnvironment, status: int) -> None:
    key = await archiver_env_v3.put()
    archiver_env_v3.server.fault("upload", refused(status))

    report = await archiver_env_v3.run()

    assert report.actions == {"dead_letter": 1}
    assert archiver_env_v3.rows()[key.pdf] == "failed"
    assert len(archiver_env_v3.server.requests("upload")) == 1


async def test_a_task_that_fails_for_the_files_sake_is_a_dead_letter(archiver_env: ArchiverEnvironment) -> None:
    key = await archiver_env.put()
    archiver_env.server.next_uploads(half_written("{name}: Unsupported mime type application/octet-stream"))

    report = await archiver_env.run()

    assert report.actions == {"dead_letter": 1}
    error = (await archiver_env.sidecar(key, archiver_env.office.dead_letters)).last_error
    assert error is not None
    assert "Unsupported mime type" in error


@pytest.mark.parametrize("outcome", [database_locked(), worker_lost()], ids=["locked", "lost"])
async def test_a_task_that_fails_for_no_fault_of_the_file_is_tried_again(
    archiver_env_v3: ArchiverEnvironment, outcome: TaskOutcome
) -> None:
    key = await archiver_env_v3.put()
    archiver_env_v3.server.next_uploads(outcome)

    first = await archiver_env_v3.run()
    assert first.actions == {"failed": 1}
    assert (await archiver_env_v3.sidecar(key)).attempt_id is None
    second = await archiver_env_v3.run()

    assert second.actions == {"archived": 1}
    assert len(archiver_env_v3.documents()) == 1


async def test_a_success_that_does_not_say_of_what_is_found_by_our_tags(archiver_env_v3: ArchiverEnvironment) -> None:
    await archiver_env_v3.put()
    archiver_env_v3.server.next_uploads(without_id())

    report = await archiver_env_v3.run()

    assert report.actions == {"archived": 1}


async def test_nothing_else_is_touched_when_the_api_does_not_answer(archiver_env_v3: ArchiverEnvironment) -> None:
    key = await archiver_env_v3.put()
    archiver = archiver_env_v3.archiver()
    await archiver.api._client.aclose()
    archiver.api = type(archiver.api)("http://127.0.0.1:9", "key")

    report = await archiver.run()
    await archiver.paperless.close()
    await archiver.api.close()

    assert report.outcome is PassOutcome.RETRY_LATER
    assert archiver_env_v3.server.requests("upload") == []
    assert (await archiver_env_v3.sidecar(key)).retry_count == 0


async def test_a_wrong_key_stops_the_line_and_makes_no_dead_letter(archiver_env_v3: ArchiverEnvironment) -> None:
    await archiver_env_v3.put()
    archiver = archiver_env_v3.archiver()
    await archiver.api.close()
    archiver.api = type(archiver.api)(archiver_env_v3.office.api.url, "another key")

    report = await archiver.run()
    await archiver.paperless.close()
    await archiver.api.close()

    assert report.outcome is PassOutcome.NEEDS_OPERATOR
    assert len(await archiver_env_v3.waiting()) == 2


async def test_a_job_of_an_organization_that_muniment_does_not_know_is_a_dead_letter(
    archiver_env_v3: ArchiverEnvironment,
) -> None:
    await archiver_env_v3.put(organization_id=uuid4())

    report = await archiver_env_v3.run()

    assert report.actions == {"dead_letter": 1}
    assert archiver_env_v3.documents() == []
