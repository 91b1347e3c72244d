"""Retries of one job within a pass, and the waits between them (docs/contracts.md#archiver-errors)."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from muniment.handover.archiver.job_state import JobDeferred, JobFailed, JobRejected
from muniment.handover.archiver.pass_context import PassContext
from muniment.handover.internal.client import ApiOrganizationNotFound, ApiRequestRejected
from muniment.handover.paperless.errors import (
    DocumentForbidden,
    OutcomeUnknown,
    PaperlessError,
    RateLimited,
    RequestRejected,
    StaleObjectId,
)
from muniment.storage.objects.port import ObjectNotFound

MAX_ATTEMPTS = 3


WAITS_SECONDS = (2.0, 4.0, 8.0)


MAX_WAIT_SECONDS = 30.0


Result = TypeVar("Result")


class _RetryState:
    """What is left of it, for one job."""

    def __init__(self, context: PassContext) -> None:
        self._context = context
        self._unknown_outcomes = self._rate_limits = 0
        self._was_refreshed = False

    async def wait_or_raise(self, error: PaperlessError) -> None:
        """Wait, or put right what can be; raise what the job ends with when there is no sense in trying again."""
        if isinstance(error, RateLimited):
            await self._wait_for_rate_limit(error)
        elif isinstance(error, StaleObjectId):
            self._refresh_ids(error)
        else:
            await self._back_off(error)

    async def _wait_for_rate_limit(self, error: RateLimited) -> None:
        seconds = error.retry_after
        if self._rate_limits >= len(WAITS_SECONDS) or (seconds or 0) > MAX_WAIT_SECONDS:
            self._context.breaker.is_open = True
            raise JobDeferred(error.message)
        await self._context.clock.sleep(WAITS_SECONDS[self._rate_limits] if seconds is None else seconds)
        self._rate_limits += 1

    def _refresh_ids(self, error: StaleObjectId) -> None:
        if self._was_refreshed:
            raise JobFailed(f"Paperless rejected an ID that it had assigned: {error.message}")
        self._was_refreshed = True
        self._context.objects.invalidate(error.kind)

    async def _back_off(self, error: PaperlessError) -> None:
        self._unknown_outcomes += 1
        if self._unknown_outcomes >= MAX_ATTEMPTS:
            raise JobFailed(error.message)
        await self._context.clock.sleep(WAITS_SECONDS[self._unknown_outcomes - 1])


async def with_retries(context: PassContext, work: Callable[[], Awaitable[Result]]) -> Result:
    """`work` begins with a look each time. `JobRejected`, `JobFailed` or `Left` if it comes to nothing; what stops the line, and
    a store or an API that does not answer, goes through."""
    patience = _RetryState(context)
    while True:
        try:
            return await work()
        except (RateLimited, StaleObjectId, OutcomeUnknown) as error:
            await patience.wait_or_raise(error)
        except (DocumentForbidden, RequestRejected, ApiOrganizationNotFound) as error:
            raise JobRejected(error.message) from None
        except ApiRequestRejected as error:
            raise JobFailed(error.message, is_job_fault=True) from None
        except ObjectNotFound:
            raise JobDeferred("The job no longer exists") from None


MAX_RETRIES = 3
