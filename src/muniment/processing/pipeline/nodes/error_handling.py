"""Node ErrorHandling: decide between retry, requeue and failure of the run."""

import structlog
from langgraph.errors import NodeError
from langgraph.runtime import Runtime

from muniment.errors import MunimentError, StorageFull, Unavailable
from muniment.processing.pipeline.context import Context, RunState
from muniment.processing.pipeline.publishing import fail
from muniment.processing.readers.errors import Unreadable
from muniment.processing.runs.repository import Superseded
from muniment.processing.sandbox.parent.job import ReaderKilled, too_large
from muniment.storage.tasks.port import PutBack

log = structlog.get_logger()


ERROR_HANDLING = "ErrorHandling"


INTERNAL = "internal"


INTERNAL_MESSAGE = "Processing failed because of an internal error. Try again or contact your operator."


FULL_SECONDS = 60


MAX_FAILURES = 3
"""A document over which worker or reader died so often is not tried again: others wait behind it."""


_REQUESTS = (PutBack, Superseded, Unavailable)
"""Not failures of the document: the queue, or nobody, deals with them."""


async def error_handling(state: RunState, error: NodeError, runtime: Runtime[Context]) -> RunState:
    reason, run = error.error, runtime.context.run
    if isinstance(reason, ReaderKilled) and run.failures >= MAX_FAILURES - 1:
        reason = too_large()  # again and again: it is this file that takes the memory
    if isinstance(reason, _REQUESTS):
        raise reason
    if isinstance(reason, StorageFull):
        raise PutBack(FULL_SECONDS)
    if not isinstance(reason, Exception):
        raise reason
    code, message = _explain(reason)
    log.warning(
        "processing.failed", run_id=str(run.run_id), document_id=str(run.document_id), step=error.node, code=code
    )
    if code == INTERNAL:
        log.error("processing.unexpected", run_id=str(run.run_id), step=error.node, exc_info=reason)
    async with runtime.context.tools.database.service_work(runtime.context.service) as work:
        await fail(work, run, step=error.node, code=code, message=message)
    return {}


def _explain(reason: Exception) -> tuple[str, str]:
    if isinstance(reason, Unreadable):
        return reason.code, reason.message
    if isinstance(reason, MunimentError):
        return INTERNAL, reason.message
    return INTERNAL, INTERNAL_MESSAGE
