"""Like `test_crash_recovery.py`, with real processes and SIGKILL: nothing depends on `finally`."""

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


async def killed_after(archiver_env: ArchiverEnvironment, number: int) -> bool:
    """Return whether the process reached this effect and was killed."""
    case = {
        "paperless": archiver_env.server.url,
        "token": archiver_env.server.token,
        "api": archiver_env.office.api.url,
        "key": INTERNAL_KEY,
        "queue": str(archiver_env.office.queue._root),
        "letters": str(archiver_env.office.dead_letters._root),
        "ahead": archiver_env.clock.ahead.total_seconds(),
        "number": number,
    }
    program = "tests.handover.archiver.programs.dying_archiver"
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", program, json.dumps(case))
    return await process.wait() == -signal.SIGKILL


async def check_after_death(archiver_env: ArchiverEnvironment, number: int) -> bool:
    await put_jobs(archiver_env, f"killed after {number}")
    if not await killed_after(archiver_env, number):
        return False
    archiver_env.clock.advance(minutes=5)  # the lease expires
    await passed(archiver_env)
    await check_archived_once(archiver_env, str(number))
    return True


async def test_a_second_archiver_finishes_what_a_killed_one_began(archiver_env_v3: ArchiverEnvironment) -> None:
    await put_jobs(archiver_env_v3, "undisturbed")
    effects = await passed(archiver_env_v3)

    for number in random.Random(SEED).sample(range(len(effects) * 3 // 4), SAMPLES):
        assert await check_after_death(archiver_env_v3, number)


@pytest.mark.every_fault
@pytest.mark.timeout(3600)
async def test_an_archiver_may_be_killed_after_every_single_effect(archiver_env: ArchiverEnvironment) -> None:
    number = 0
    while await check_after_death(archiver_env, number):
        number += 1
    assert number > 40
