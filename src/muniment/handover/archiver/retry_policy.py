"""Retries of one job within a pass, and the waits between them (specs/archive-queue.md §8.2)."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from muniment.handover.archiver.job_state import Dead, Failed, Left
from muniment.handover.archiver.pass_context import Tools
from muniment.handover.internal.client import NotDone, UnknownOrganization
from muniment.handover.paperless.errors import NotForThis, PaperlessError, Rejected, Throttled, Unclear, UnknownId
from muniment.storage.objects.port import BlobNotFound

TRIES = 3


WAITS_SECONDS = (2.0, 4.0, 8.0)


LONGEST_WAIT_SECONDS = 30.0


Result = TypeVar("Result")


class _Patience:
    """What is left of it, for one job."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._unclear = self._throttled = 0
        self._was_refreshed = False

    async def bear(self, error: PaperlessError) -> None:
        """Wait, or put right what can be; raise what the job ends with when there is no sense in trying again."""
        if isinstance(error, Throttled):
            await self._wait_as_told(error)
        elif isinstance(error, UnknownId):
            self._refresh(error)
        else:
            await self._wait(error)

    async def _wait_as_told(self, error: Throttled) -> None:
        seconds = error.retry_after
        if self._throttled >= len(WAITS_SECONDS) or (seconds or 0) > LONGEST_WAIT_SECONDS:
            self._tools.pace.is_closed = True
            raise Left(error.message)
        await self._tools.clock.sleep(WAITS_SECONDS[self._throttled] if seconds is None else seconds)
        self._throttled += 1

    def _refresh(self, error: UnknownId) -> None:
        if self._was_refreshed:
            raise Failed(f"Paperless rejected an ID that it had assigned: {error.message}")
        self._was_refreshed = True
        self._tools.objects.forget(error.kind)

    async def _wait(self, error: PaperlessError) -> None:
        self._unclear += 1
        if self._unclear >= TRIES:
            raise Failed(error.message)
        await self._tools.clock.sleep(WAITS_SECONDS[self._unclear - 1])


async def with_patience(tools: Tools, work: Callable[[], Awaitable[Result]]) -> Result:
    """`work` begins with a look each time. `Dead`, `Failed` or `Left` if it comes to nothing; what stops the line, and
    a store or an API that does not answer, goes through."""
    patience = _Patience(tools)
    while True:
        try:
            return await work()
        except (Throttled, UnknownId, Unclear) as error:
            await patience.bear(error)
        except (NotForThis, Rejected, UnknownOrganization) as error:
            raise Dead(error.message) from None
        except NotDone as error:
            raise Failed(error.message, is_certain=True) from None
        except BlobNotFound:
            raise Left("The job no longer exists") from None


MAX_RETRIES = 3
