"""Retries of one job within a pass, and the waits between them (docs/contracts.md#archiver-errors)."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState

from muniment.handover.archiver.job_state import JobDeferred, JobFailed, JobRejected
from muniment.handover.archiver.pass_context import PassContext
from muniment.handover.internal.client import ApiOrganizationNotFound, ApiRequestRejected
from muniment.handover.paperless.errors import (
    DocumentForbidden,
    OutcomeUnknown,
    RateLimited,
    RequestRejected,
    StaleObjectId,
    TaskStatusUnknown,
)
from muniment.storage.objects.port import ObjectNotFound

MAX_RETRIES = 3
"""Failures that count before a job becomes a dead letter."""
WAITS_SECONDS = (2.0, 4.0, 8.0)
"""Waits before the retries within a pass, while Paperless limits requests or the outcome is unknown."""
MAX_WAIT_SECONDS = 30.0
"""Longest wait that Paperless may ask for. Beyond it, the pass starts no more jobs."""

Result = TypeVar("Result")


async def with_retries(context: PassContext, work: Callable[[], Awaitable[Result]]) -> Result:
    """Run `work`, retrying transient errors of Paperless. It must check what has already been done each time.

    Raise `JobRejected`, `JobFailed` or `JobDeferred` when retrying is pointless. Let misconfiguration and outages
    propagate.
    """
    retries = _JobRetries(context)
    retrying = AsyncRetrying(
        retry=retries.should_retry,
        wait=retries.seconds_to_wait,
        before_sleep=retries.prepare,
        sleep=context.clock.sleep,
    )
    with translate_job_errors():
        try:
            return await retrying(work)
        except RateLimited as error:
            context.breaker.is_open = True
            raise JobDeferred(error.message) from None


@contextmanager
def translate_job_errors() -> Iterator[None]:
    """Translate errors that concern only the job at hand into the errors that end it."""
    try:
        yield
    except StaleObjectId as error:
        raise JobFailed(f"Paperless rejected an ID that it had assigned: {error.message}") from None
    except TaskStatusUnknown as error:
        raise JobFailed(error.message, is_upload_open=True) from None
    except OutcomeUnknown as error:
        raise JobFailed(error.message) from None
    except (DocumentForbidden, RequestRejected, ApiOrganizationNotFound) as error:
        raise JobRejected(error.message) from None
    except ApiRequestRejected as error:
        raise JobFailed(error.message, is_job_fault=True) from None
    except ObjectNotFound:
        raise JobDeferred("The job no longer exists") from None


class _JobRetries:
    """Retries that one job has used, by kind of error."""

    def __init__(self, context: PassContext) -> None:
        self._context = context
        self._unknown_outcomes = self._rate_limits = self._stale_ids = 0

    def should_retry(self, state: RetryCallState) -> bool:
        error = _error(state)
        if isinstance(error, RateLimited):
            self._rate_limits += 1
            return self._rate_limits <= len(WAITS_SECONDS) and (error.retry_after or 0) <= MAX_WAIT_SECONDS
        if isinstance(error, StaleObjectId):
            self._stale_ids += 1
            return self._stale_ids == 1
        if isinstance(error, OutcomeUnknown):
            self._unknown_outcomes += 1
            return self._unknown_outcomes <= len(WAITS_SECONDS)
        return False

    def seconds_to_wait(self, state: RetryCallState) -> float:
        error = _error(state)
        if isinstance(error, RateLimited):
            return WAITS_SECONDS[self._rate_limits - 1] if error.retry_after is None else error.retry_after
        return 0 if isinstance(error, StaleObjectId) else WAITS_SECONDS[self._unknown_outcomes - 1]

    def prepare(self, state: RetryCallState) -> None:
        """Look up ids again before the next attempt if Paperless rejected one."""
        error = _error(state)
        if isinstance(error, StaleObjectId):
            self._context.objects.invalidate(error.kind)


def _error(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome else None
