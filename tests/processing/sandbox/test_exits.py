"""Why a file could not be read, as reported to the caller."""

import signal

import pytest
from structlog.testing import capture_logs

from muniment.errors import Unavailable
from muniment.processing.readers.contract import ReaderResources
from muniment.processing.readers.errors import Unreadable, UnreadableCode
from muniment.processing.sandbox.client import Sandbox
from muniment.processing.sandbox.parent.job import ReaderKilled, ReadingTimeUp, classify_exit
from muniment.processing.sandbox.protocol.control import JobExited, JobLimits
from tests.processing.sandbox.conftest import WORKPLACE, ask, read

LIMITS = JobLimits(memory_bytes=100, cpu_seconds=10)


async def failure(sandbox: Sandbox, deed: str) -> Unreadable:
    with pytest.raises(Unreadable) as caught:
        await read(sandbox, deed)
    return caught.value


@pytest.mark.parametrize(
    ("deed", "code"),
    [
        ("abort", UnreadableCode.CORRUPT),
        ("segfault", UnreadableCode.CORRUPT),
        ("exit", UnreadableCode.CORRUPT),
        ("stumble", UnreadableCode.CORRUPT),
        ("encrypted", UnreadableCode.ENCRYPTED),
        ("hog", UnreadableCode.READER_MEMORY),
        ("hog_and_abort", UnreadableCode.READER_MEMORY),
        ("burn", UnreadableCode.READER_TIMEOUT),
    ],
)
async def test_every_way_to_fail_has_its_code_and_a_sentence(sandbox: Sandbox, deed: str, code: UnreadableCode) -> None:
    error = await failure(sandbox, deed)
    assert error.code is code
    assert error.message.endswith(".")
    assert await ask(sandbox, "echo", "still here") == "still here"


async def test_sentence_of_a_reader_reaches_the_caller(sandbox: Sandbox) -> None:
    assert (await failure(sandbox, "encrypted")).message.startswith("The file is protected by a password")


async def test_failure_after_the_last_page_is_a_failure(sandbox: Sandbox) -> None:
    assert (await failure(sandbox, "late_failure")).message == "The rest is missing."


@pytest.mark.parametrize("deed", ["hang", "close_output"])
async def test_child_that_falls_silent_is_a_timeout(deed: str) -> None:
    sandbox = Sandbox(ReaderResources(), stall_seconds=0.5, server_config=WORKPLACE)
    assert (await failure(sandbox, deed)).code is UnreadableCode.READER_TIMEOUT
    await sandbox.close()


async def test_child_that_reads_no_page_in_its_time_is_a_timeout() -> None:
    sandbox = Sandbox(ReaderResources(), total_seconds=0.5, server_config=WORKPLACE)
    assert (await failure(sandbox, "burn")).code is UnreadableCode.READER_TIMEOUT
    await sandbox.close()


async def test_child_that_still_reads_pages_when_its_time_is_up_may_continue_later() -> None:
    sandbox = Sandbox(ReaderResources(), total_seconds=0.5, server_config=WORKPLACE)
    with pytest.raises(ReadingTimeUp):
        await read(sandbox, "drip")
    await sandbox.close()


async def test_log_says_where_a_reader_stumbled_and_quotes_nothing(sandbox: Sandbox) -> None:
    with capture_logs() as lines:
        await failure(sandbox, "stumble")
    [crash] = [line for line in lines if line["event"] == "sandbox.crashed"]
    assert crash["where"].startswith("jobs.py:")
    assert crash["where"].endswith(" KeyError")
    assert "secret" not in str(lines)


def code_of(ended: JobExited) -> UnreadableCode:
    error = classify_exit(ended, LIMITS)
    assert isinstance(error, Unreadable)
    return error.code


def test_death_near_the_memory_limit_is_for_want_of_memory() -> None:
    assert code_of(JobExited(1, -signal.SIGSEGV, peak_bytes=70)) is UnreadableCode.READER_MEMORY
    assert code_of(JobExited(1, -signal.SIGSEGV, peak_bytes=69)) is UnreadableCode.CORRUPT


def test_exit_near_the_memory_limit_is_a_crash() -> None:
    assert code_of(JobExited(1, 70, peak_bytes=99)) is UnreadableCode.CORRUPT


def test_a_kill_far_from_the_limit_is_not_the_files_fault_and_is_tried_again() -> None:
    assert isinstance(classify_exit(JobExited(1, -signal.SIGKILL, peak_bytes=1), LIMITS), ReaderKilled)


def test_a_kill_near_the_limit_is_for_memory_unless_the_time_is_spent() -> None:
    assert code_of(JobExited(1, -signal.SIGKILL, peak_bytes=70)) is UnreadableCode.READER_MEMORY
    assert code_of(JobExited(1, -signal.SIGKILL, cpu_seconds=10)) is UnreadableCode.READER_TIMEOUT
    assert code_of(JobExited(1, -signal.SIGXCPU)) is UnreadableCode.READER_TIMEOUT


def test_child_that_could_not_start_is_worth_a_retry() -> None:
    assert isinstance(classify_exit(JobExited(1, exit_code=None), LIMITS), Unavailable)
