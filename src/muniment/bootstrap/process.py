"""Helpers of long-running processes: stop in an orderly way, and freeze loaded objects."""

import asyncio
import gc
import signal
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any

from muniment.embedded.child_process import on_supervisor_exit


def on_stop(stop: Callable[[int], object]) -> None:
    """Call `stop` with the signal's number on SIGTERM or SIGINT, and with SIGTERM when the supervisor exits.

    It runs in the current event loop, and may be called more than once.
    """
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop, number)
    on_supervisor_exit(partial(loop.call_soon_threadsafe, stop, signal.SIGTERM))


async def run_until_stopped(main: Coroutine[Any, Any, None]) -> None:
    """Run `main` to its end, or cancel it on SIGTERM, SIGINT or when the supervisor exits."""
    task = asyncio.create_task(main)
    on_stop(lambda _: task.cancel())
    with suppress(asyncio.CancelledError):
        await task


def freeze_loaded_objects() -> None:
    """Exclude everything loaded so far from garbage collection.

    Routes, tables and models are hundreds of thousands of objects that live as long as the process. Every full
    collection would visit them again while a request waits.
    """
    gc.collect()
    gc.freeze()
