"""The same as in `test_crash_recovery.py`, with real processes and SIGKILL: nothing depends on `finally`."""

import asyncio
import json
import random
import signal
import sys

import pytest

from tests.handover.archiver.environment import ArchiverEnvironment
from tests.handover.archiver.test_crash_recovery import check_archived_once, passed, put_jobs
from tests.handover.handover_api import INTERNAL_KEY

pytestmark = pytest.mark.slow

SEED = 6
SAMPLES = 2


async def killed_after(stage: ArchiverEnvironment, number: int) -> bool:
    """Whether it came so far."""
    case = {
        "paperless": stage.server.url,
        "token": stage.server.token,
        "api": stage.office.api.url,
        "key": INTERNAL_KEY,
        "queue": str(stage.office.queue._root),
        "letters": str(stage.office.dead_letters._root),
        "ahead": stage.clock.ahead.total_seconds(),
        "number": number,
    }
    program = "tests.handover.archiver.programs.dying_archiver"
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", program, json.dumps(case))
    return await process.wait() == -signal.SIGKILL


async def check_after_death(stage: ArchiverEnvironment, number: int) -> bool:
    await put_jobs(stage, f"killed after {number}")
    if not await killed_after(stage, number):
        return False
    stage.clock.advance(minutes=5)  # its lease ends
    await passed(stage)
    await check_archived_once(stage, str(number))
    return True


async def test_a_second_archiver_finishes_what_a_killed_one_began(stage3: ArchiverEnvironment) -> None:
    await put_jobs(stage3, "undisturbed")
    effects = await passed(stage3)

    for number in random.Random(SEED).sample(range(len(effects) * 3 // 4), SAMPLES):
        assert await check_after_death(stage3, number)


@pytest.mark.every_fault
@pytest.mark.timeout(3600)
async def test_an_archiver_may_be_killed_after_every_single_effect(stage: ArchiverEnvironment) -> None:
    number = 0
    while await check_after_death(stage, number):
        number += 1
    assert number > 40
