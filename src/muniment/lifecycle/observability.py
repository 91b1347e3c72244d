"""Record each lifecycle operation: one log line, its duration, its errors and its counter."""

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID

import structlog

from muniment.documents.quotas import QuotaExceeded
from muniment.errors import MunimentError, StorageFull, Unavailable
from muniment.lifecycle.rules import Move
from muniment.telemetry.logs import mark_as_logged
from muniment.telemetry.metrics import (
    DOCUMENTS_ARCHIVED,
    DOCUMENTS_CANCELLED,
    DOCUMENTS_CLEARED,
    DOCUMENTS_PURGED,
    DOCUMENTS_REPLACED,
    DOCUMENTS_RESTORED,
    DOCUMENTS_RETRIED,
    DOCUMENTS_REVERTED,
    LIFECYCLE_ERRORS,
    LIFECYCLE_SECONDS,
    REPLACEMENTS_DISCARDED,
)
from muniment.telemetry.traces import span

log = structlog.get_logger()

COUNTERS = {
    Move.ARCHIVE: DOCUMENTS_ARCHIVED,
    Move.RESTORE: DOCUMENTS_RESTORED,
    Move.PURGE: DOCUMENTS_PURGED,
    Move.CLEAR: DOCUMENTS_CLEARED,
    Move.REPLACE: DOCUMENTS_REPLACED,
    Move.REVERT: DOCUMENTS_REVERTED,
    Move.RETRY_REPLACEMENT: DOCUMENTS_RETRIED,
    Move.DISCARD_REPLACEMENT: REPLACEMENTS_DISCARDED,
    Move.CANCEL: DOCUMENTS_CANCELLED,
    Move.RETRY: DOCUMENTS_RETRIED,
}
OPERATIONS = (*(move.value for move in COUNTERS), "bulk_archive", "bulk_purge", "remove_knowledge_base")
SERVER_ERRORS = (StorageFull, Unavailable)
"""Errors that count as failures of the server. Every other `MunimentError` is a refusal and raises no alert."""


class OperationStatus(StrEnum):
    """How an operation ended. The values are metric labels."""

    SUCCESS = "success"
    PENDING = "pending"
    """The move is committed, but not every store is verified yet."""
    REFUSED = "refused"
    ERROR = "error"
    INTERRUPTED = "interrupted"


# Created at zero: Prometheus does not count the first value of a series as an increase, so no alert would fire.
for _operation in OPERATIONS:
    for _status in (OperationStatus.SUCCESS, OperationStatus.PENDING, OperationStatus.ERROR):
        LIFECYCLE_SECONDS.labels(_operation, _status)


@dataclass
class Operation:
    """An operation in progress."""

    status: OperationStatus = OperationStatus.SUCCESS
    error: Exception | None = None
    started: float = field(default_factory=time.perf_counter)
    """Moved by an operation whose client had to send a file first: that is not its duration."""


@asynccontextmanager
async def observe(
    operation: str, *, kb_id: UUID, document_id: UUID | None, user_id: UUID | None
) -> AsyncIterator[Operation]:
    """Measure the block with its transactions, and log how it ended.

    `operation` is one of `OPERATIONS`. The block sets `status` if it ends as `PENDING`.
    """
    observed = Operation()
    try:
        with span(f"lifecycle.{operation}"):
            yield observed
    except Exception as error:
        observed.error, observed.status = error, _status_of(error)
        raise
    except BaseException:
        observed.status = OperationStatus.INTERRUPTED
        raise
    finally:
        seconds = time.perf_counter() - observed.started
        _report(observed, operation, seconds, kb_id=kb_id, document_id=document_id, user_id=user_id)


@dataclass
class DeferredReport:
    """Reports an operation once its outcome is known: the documents of a bulk purge are verified together."""

    operation: str
    kb_id: UUID
    document_id: UUID
    user_id: UUID | None
    _seconds: float = 0

    @contextmanager
    def measure(self) -> Iterator[None]:
        """Measure the block as the duration of the operation."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self._seconds = time.perf_counter() - started

    def report(self, status: OperationStatus, error: Exception | None = None) -> None:
        """Report how the operation ended. An error decides the status."""
        ended = Operation(_status_of(error) if error else status, error)
        ids = {"kb_id": self.kb_id, "document_id": self.document_id, "user_id": self.user_id}
        _report(ended, self.operation, self._seconds, **ids)


def count_move(move: Move, kb_id: UUID, user_id: UUID | None, **labels: bool) -> None:
    """Count a committed move."""
    COUNTERS[move].inc(kb_id, user_id, **labels)


def _status_of(error: Exception) -> OperationStatus:
    # A full quota is the organization's own limit, although it answers like a full disk.
    is_refusal = isinstance(error, MunimentError) and not isinstance(error, SERVER_ERRORS)
    is_refusal = is_refusal or isinstance(error, QuotaExceeded)
    return OperationStatus.REFUSED if is_refusal else OperationStatus.ERROR


def _report(ended: Operation, operation: str, seconds: float, **ids: UUID | None) -> None:
    LIFECYCLE_SECONDS.labels(operation, ended.status).observe(seconds)
    fields = {"operation": operation, **ids, "duration_ms": round(seconds * 1000, 1), "status": ended.status.value}
    if ended.error is None:
        log.info("lifecycle.operation", **fields)
        return
    error_type = ended.error.code if isinstance(ended.error, MunimentError) else type(ended.error).__name__
    if ended.status is OperationStatus.REFUSED:  # expected, and the caller got the reason: no alert
        log.info("lifecycle.operation", **fields, error_type=error_type)
        return
    LIFECYCLE_ERRORS.labels(operation, error_type).inc()
    log.error("lifecycle.operation", **fields, error_type=error_type, exc_info=ended.error)
    mark_as_logged(ended.error)
