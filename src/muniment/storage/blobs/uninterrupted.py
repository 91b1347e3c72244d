"""Work that must not be left half done when its caller is cancelled."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar, TypeVarTuple

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")


async def to_the_end(work: Awaitable[Result]) -> Result:
    """Await `work` until it is done, whatever happens; a cancellation in the meantime is raised afterwards.

    Without this, a cancelled caller would clean up while a thread still writes into the same file, or while a server
    still opens the upload that is to be aborted.
    """
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        if not task.cancelled():
            task.exception()  # seen, so that asyncio does not report it as forgotten
        raise cancelled
    return task.result()


async def in_thread(work: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
    """Run blocking work to its end in a thread."""
    # Not `to_thread`: that is a task, which the end of the event loop cancels while its thread goes on.
    return await to_the_end(asyncio.get_running_loop().run_in_executor(None, work, *arguments))
