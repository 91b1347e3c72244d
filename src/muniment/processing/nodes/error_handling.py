"""Where every failure ends: what may be tried again goes back to the queue, everything else fails and says why."""

import structlog
from langgraph.errors import NodeError
from langgraph.runtime import Runtime

from muniment.errors import MunimentError, StorageFull, Unavailable
from muniment.lifecycle.moves import carry_out
from muniment.lifecycle.rules import Move
from muniment.processing.context import Context, RunState
from muniment.processing.readers.contract import Unreadable
from muniment.processing.runs import ClaimedRun, RunRepository, Superseded
from muniment.processing.sandbox.verdicts import ReaderKilled, too_large
from muniment.processing.tables import RunStatus, StepStatus
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work
from muniment.storage.tasks.port import PutBack

log = structlog.get_logger()

ERROR_HANDLING = "ErrorHandling"
INTERNAL = "internal"
INTERNAL_MESSAGE = "Reading failed for a reason of ours, not of the file's. Try again, or tell your operator."
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


async def fail(work: Work[Service], run: ClaimedRun, *, step: str, code: str, message: str) -> None:
    """The run fails, and the document with it; a reread that fails changes nothing but its run."""
    runs = RunRepository(work.session)
    error = {"code": code, "message": message, "step": step}
    await runs.enter_steps(run, {step: StepStatus.FAILED}, error=error)
    await runs.end(run, RunStatus.FAILED, error)
    if run.is_reread:
        return
    columns = {"processing_status": "failed", "processing_errors": [error], "last_error": message}
    if not await carry_out(work.session, Move.FAIL, run.document_id, run.epoch, **columns):
        raise Superseded
