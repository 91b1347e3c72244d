"""Buffered writing, and blocking work that runs to completion even when its caller is cancelled."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar, TypeVarTuple

from muniment.storage.objects.port import BlobWriter

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


_PIECE_BYTES = 1024 * 1024


class GatheringWriter(BlobWriter):
    """Hands on pieces of about 1 MiB; `flush` hands on the rest."""

    def __init__(self, hand_on: Callable[[bytearray], Awaitable[None]]) -> None:
        self._hand_on = hand_on
        self._gathered = bytearray()

    async def write(self, chunk: bytes) -> None:
        self._gathered += chunk
        if len(self._gathered) >= _PIECE_BYTES:
            await self.flush()

    async def flush(self) -> None:
        gathered, self._gathered = self._gathered, bytearray()
        await self._hand_on(gathered)
