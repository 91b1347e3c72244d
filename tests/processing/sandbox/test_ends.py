"""Nothing outlives its job, whatever happens to the child, the server, the client or the caller."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from muniment.errors import Unavailable
from muniment.processing.readers.contract import ReaderResources, ReadingOptions
from muniment.processing.readers.errors import Unreadable
from muniment.processing.sandbox.client import Sandbox, SandboxedFile
from muniment.processing.sandbox.parent.fork_server import ForkServerConfig
from muniment.processing.sandbox.parent.server_process import SandboxUnavailable
from tests.processing.sandbox.conftest import WORKPLACE, a_file, ask, read
from tests.processing.sandbox.processes import are_gone, children_of_ours, go_away

PROGRAM = Path(__file__).parent / "programs" / "client.py"


async def family_of(reading: SandboxedFile) -> list[int]:
    return [int(pid) for pid in (await anext(reading.pages)).text.split()]


def server_of(sandbox: Sandbox) -> int:
    link = sandbox._fork_server._process
    assert link
    return link.pid


async def test_success_leaves_only_the_server(sandbox: Sandbox) -> None:
    before = children_of_ours()
    assert [page.text for page in await read(sandbox, "lines", "one\ntwo")] == ["one", "two"]
    assert set(children_of_ours()) - set(before) == {server_of(sandbox)}


async def test_leaving_early_ends_the_child_and_all_it_has_started(sandbox: Sandbox) -> None:
    with a_file() as file:
        async with sandbox.read(file, "hang_with_family", ReadingOptions()) as reading:
            family = await family_of(reading)
            assert len(family) == 3
            assert not are_gone(family)
    assert are_gone(family)


async def test_what_a_crashed_child_had_started_ends_with_it(sandbox: Sandbox) -> None:
    with a_file() as file:
        async with sandbox.read(file, "crash_with_family", ReadingOptions()) as reading:
            family = await family_of(reading)
            with pytest.raises(Unreadable):
                await anext(reading.pages)
            assert are_gone(family)


async def test_an_error_of_the_caller_ends_the_child(sandbox: Sandbox) -> None:
    family = []

    async def fail() -> None:
        with a_file() as file:
            async with sandbox.read(file, "hang_with_family", ReadingOptions()) as reading:
                family.extend(await family_of(reading))
                raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert family
    assert are_gone(family)


async def test_cancellation_ends_the_child_before_it_is_raised(sandbox: Sandbox) -> None:
    told: asyncio.Future[list[int]] = asyncio.get_running_loop().create_future()

    async def work() -> None:
        with a_file() as file:
            async with sandbox.read(file, "hang_with_family", ReadingOptions()) as reading:
                told.set_result(await family_of(reading))
                await anext(reading.pages)

    task = asyncio.create_task(work())
    family = await told
    task.cancel()
    await asyncio.sleep(0)  # it is ending its child now, and is cancelled again
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert are_gone(family)
    assert await ask(sandbox, "echo", "still here") == "still here"


async def test_cancellation_at_any_step_of_a_start_leaves_nothing_behind(sandbox: Sandbox) -> None:
    await ask(sandbox, "echo")
    alone = children_of_ours()
    for steps in range(12):
        task = asyncio.create_task(read(sandbox, "hang"))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert children_of_ours() == alone


async def test_killed_server_takes_everything_along_and_the_next_job_starts_another(sandbox: Sandbox) -> None:
    with a_file() as file:
        async with sandbox.read(file, "hang_with_family", ReadingOptions()) as reading:
            family = await family_of(reading)
            first = server_of(sandbox)
            os.kill(first, signal.SIGKILL)
            with pytest.raises(Unavailable):
                await anext(reading.pages)
    assert go_away(family)
    assert await ask(sandbox, "echo", "again") == "again"
    assert server_of(sandbox) != first


async def test_killed_client_takes_everything_along() -> None:
    client = await asyncio.create_subprocess_exec(
        sys.executable, str(PROGRAM), WORKPLACE.import_paths[0], stdout=asyncio.subprocess.PIPE
    )
    assert client.stdout
    try:
        pids = [int(pid) for pid in (await client.stdout.readline()).split()]
        assert len(pids) == 4
        assert not are_gone(pids)
    finally:
        client.kill()
        await client.wait()
    assert await asyncio.to_thread(go_away, pids)


async def test_close_ends_server_and_running_jobs() -> None:
    sandbox = Sandbox(ReaderResources(), server_config=WORKPLACE)
    with a_file() as file:
        async with sandbox.read(file, "hang_with_family", ReadingOptions()) as reading:
            family = [*await family_of(reading), server_of(sandbox)]
            await sandbox.close()
            assert are_gone(family)
            with pytest.raises(SandboxUnavailable):
                await anext(reading.pages)


async def test_twenty_jobs_at_once_each_get_their_own_file(sandbox: Sandbox) -> None:
    answers = await asyncio.gather(*(ask(sandbox, "echo", f"file {number}") for number in range(20)))
    assert answers == [f"file {number}" for number in range(20)]


async def test_hanging_jobs_do_not_hold_up_others(sandbox: Sandbox) -> None:
    with a_file() as file:
        async with sandbox.read(file, "hang", ReadingOptions()):
            assert await ask(sandbox, "echo", "through") == "through"


async def test_a_child_waits_for_a_slow_caller_instead_of_filling_memory(sandbox: Sandbox) -> None:
    with a_file() as file:
        async with sandbox.read(file, "endless", ReadingOptions()) as reading:
            numbers = [(await anext(reading.pages)).number for _ in range(1000)]
    assert numbers == list(range(1, 1001))


async def test_server_that_cannot_import_its_jobs_is_unavailable_and_gone() -> None:
    before = children_of_ours()
    sandbox = Sandbox(ReaderResources(), server_config=ForkServerConfig(jobs_module="no.such.module"))
    with pytest.raises(SandboxUnavailable):
        await ask(sandbox, "echo")
    assert children_of_ours() == before
