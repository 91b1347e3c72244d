"""Node ErrorHandling: decide between retry, requeue and failure of the run."""

import structlog
from langgraph.errors import NodeError
from langgraph.runtime import Runtime

from muniment.errors import MunimentError, StorageFull, Unavailable
from muniment.processing.pipeline.context import RunContext, RunState
from muniment.processing.pipeline.publishing import INTERNAL_ERROR, fail_run
from muniment.processing.readers.errors import Unreadable
from muniment.processing.runs.repository import ClaimedRun, RunSuperseded
from muniment.storage.deletions.ledger import process_now
from muniment.storage.tasks.port import GiveUpSlot, RetryLater

log = structlog.get_logger()


INTERNAL_MESSAGE = "Processing failed because of an internal error. Try again or contact your operator."


STORAGE_FULL_RETRY_SECONDS = 60


INTERNAL_ERROR_RETRY_SECONDS = (5, 30, 180)
"""Pauses before the second, third and last attempt of a run with internal errors. The run counts them, so that a
restart of the worker does not begin from the first one."""


class RetryAfterInternalError(RetryLater):
    """The run met an internal error and is to be tried again. The requeue counts it."""


PASS_THROUGH_ERRORS = (GiveUpSlot, RetryLater, RunSuperseded, Unavailable)
"""Errors that are no failure of the document: the queue handles them, or nobody needs to."""


async def error_handling(state: RunState, error: NodeError, runtime: Runtime[RunContext]) -> RunState:
    """Pass on errors that the queue handles, retry internal errors a few times, and fail the run for all others."""
    reason, run = error.error, runtime.context.run
    if isinstance(reason, PASS_THROUGH_ERRORS):
        raise reason
    if isinstance(reason, StorageFull):
        raise RetryLater(STORAGE_FULL_RETRY_SECONDS)
    if not isinstance(reason, Exception):
        raise reason
    code, message = _explain(reason)
    if code == INTERNAL_ERROR:
        retry_internal_error(run, reason, step=error.node)
    log.warning(
        "processing.failed", run_id=str(run.run_id), document_id=str(run.document_id), step=error.node, code=code
    )
    services = runtime.context.services
    async with services.database.service_work(runtime.context.service) as work:
        entry_ids = await fail_run(
            work, run, step=error.node, code=code, message=message, automatic_revert=services.automatic_revert
        )
    await process_now(services.ledger, run.organization_id, entry_ids)
    return {}


def retry_internal_error(run: ClaimedRun, reason: Exception, *, step: str | None = None) -> None:
    """Log an internal error. Raise `RetryAfterInternalError` unless this was the last attempt."""
    attempts_left = len(INTERNAL_ERROR_RETRY_SECONDS) - run.internal_errors
    ids = {"run_id": str(run.run_id), "document_id": str(run.document_id)}
    log.error("processing.internal_error", **ids, step=step, attempts_left=attempts_left, exc_info=reason)
    if attempts_left > 0:
        raise RetryAfterInternalError(INTERNAL_ERROR_RETRY_SECONDS[run.internal_errors])


def _explain(reason: Exception) -> tuple[str, str]:
    if isinstance(reason, Unreadable):
        return reason.code, reason.message
    if isinstance(reason, MunimentError):
        return INTERNAL_ERROR, reason.message
    return INTERNAL_ERROR, INTERNAL_MESSAGE
