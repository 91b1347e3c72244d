"""Claim a run, fence off workers that lost it, record its steps and announce its progress."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import TextClause, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.documents.runs import ProcessingRun, RunPurpose, RunStatus
from muniment.documents.tables import Document
from muniment.errors import MunimentError
from muniment.processing.runs.deaths import Death, MortalProcess
from muniment.processing.runs.tables import StepStatus
from muniment.storage.tasks.worker_registry import RegisteredWorker


class RunSuperseded(MunimentError):
    """Another run has taken over this document"""

    code = "Superseded"


@dataclass(frozen=True)
class DocumentRecord:
    """The document of a run, as it was when the run was claimed."""

    content_key: str
    original_key: str
    media_type: str
    kb_id: UUID
    artifact_text_id: UUID | None
    """Artifact that the document shows."""
    processing_status: str | None
    file_size: int
    sha256: str


@dataclass(frozen=True)
class ClaimedRun:
    """A run and the attempt under which this worker may write."""

    run_id: UUID
    organization_id: UUID
    document_id: UUID
    epoch: int
    attempt: int
    revision: int = 1
    purpose: str = RunPurpose.FIRST
    force: bool = False
    algorithm_version: int | None = None
    failures: int = 0
    """Number of times a worker or a reader died while processing it. Kept for the previous version."""
    worker_id: UUID | None = None
    is_isolated: bool = False
    """Whether this worker processes nothing else meanwhile."""
    internal_errors: int = 0
    """How often it was requeued after an internal error."""
    deaths: tuple[Death, ...] = ()
    """Deaths during earlier attempts."""

    @property
    def is_reread(self) -> bool:
        return self.purpose == RunPurpose.REREAD


_DOCUMENTS, _RUNS, _WORKERS = Document.__table__, ProcessingRun.__table__, RegisteredWorker.__table__

# Fence and record in one statement. The document is locked before the run, in the same order as by lifecycle moves.
_RECORD_STEPS = text(f"""
    WITH locked AS (
        SELECT id FROM {_DOCUMENTS} WHERE id = :document_id AND epoch = :epoch FOR NO KEY UPDATE
    ), claimed AS (
        UPDATE {_RUNS} r SET last_step = :last_step, updated_at = now() FROM locked
         WHERE r.run_id = :run_id AND r.attempt = :attempt AND r.status = 'in_progress'
        RETURNING r.run_id
    )
    INSERT INTO document_processing_steps
        (run_id, organization_id, step_name, status, state_snapshot, error, completed_at)
    SELECT run_id, :organization_id, step_name, status,
           CASE WHEN step_name = :last_step THEN CAST(:snapshot AS jsonb) END,
           CASE WHEN step_name = :last_step THEN CAST(:error AS jsonb) END,
           CASE WHEN status <> 'started' THEN clock_timestamp() END
      FROM claimed, unnest(CAST(:step_names AS text[]), CAST(:statuses AS text[])) AS step (step_name, status)
    ON CONFLICT (run_id, step_name) DO UPDATE
       SET status = EXCLUDED.status, error = EXCLUDED.error, completed_at = EXCLUDED.completed_at,
           state_snapshot = coalesce(EXCLUDED.state_snapshot, document_processing_steps.state_snapshot),
           -- A node that is run again begins again; one that ends keeps its beginning.
           started_at = CASE WHEN document_processing_steps.status = 'started' AND EXCLUDED.status <> 'started'
                             THEN document_processing_steps.started_at ELSE EXCLUDED.started_at END
    RETURNING run_id
""")


_PEEK = text(f"""
    SELECT r.run_id, r.organization_id, r.document_id, r.epoch, r.attempt, r.revision, r.purpose, r.force,
           r.algorithm_version, r.failures, r.worker_id, r.is_isolated, r.internal_errors, r.deaths,
           d.content_hmac, d.original_uri, d.media_type, d.knowledge_base_id, d.artifact_text_id, d.processing_status,
           d.file_size, d.sha256
      FROM {_RUNS} r JOIN {_DOCUMENTS} d ON d.id = r.document_id
     WHERE r.run_id = :run_id AND d.epoch = r.epoch AND r.status IN ('queued', 'in_progress')
""")


# The document is locked first here too. A run that is `in_progress` was left by another worker, which has died unless
# it still sends heartbeats, was told to stop, or is of the previous version and unknown.
_CLAIM = text(f"""
    WITH locked AS (
        SELECT r.run_id, d.content_hmac, d.original_uri, d.media_type, d.knowledge_base_id,
               d.artifact_text_id AS shown, d.processing_status, d.file_size, d.sha256
          FROM {_RUNS} r JOIN {_DOCUMENTS} d ON d.id = r.document_id
         WHERE r.run_id = :run_id AND d.epoch = r.epoch FOR NO KEY UPDATE OF d
    )
    UPDATE {_RUNS} r
       SET attempt = r.attempt + 1, failures = r.failures + (r.status = 'in_progress')::integer,
           deaths = r.deaths || coalesce((
               SELECT jsonb_build_array(jsonb_build_object('process', '{MortalProcess.WORKER}', 'attempt', r.attempt,
                          'worker_id', w.worker_id, 'is_isolated', r.is_isolated, 'at', w.heartbeat_at))
                 FROM {_WORKERS} w
                WHERE w.worker_id = r.worker_id AND r.status = 'in_progress' AND w.stopping_at IS NULL
                  AND w.heartbeat_at < now() - CAST(:silence AS interval)), '[]'),
           worker_id = :worker_id, is_isolated = :is_isolated, status = 'in_progress', updated_at = now()
      FROM locked WHERE r.run_id = locked.run_id AND r.status IN ('queued', 'in_progress')
    RETURNING r.run_id, r.organization_id, r.document_id, r.epoch, r.attempt, r.revision, r.purpose, r.force,
              r.algorithm_version, r.failures, r.worker_id, r.is_isolated, r.internal_errors, r.deaths,
              locked.content_hmac, locked.original_uri, locked.media_type, locked.knowledge_base_id,
              locked.shown, locked.processing_status, locked.file_size, locked.sha256
""")


_RUN_COLUMNS = 13


# The document is locked first, so that a run whose document has moved on stays as it is.
_REQUEUE = text(f"""
    WITH locked AS (
        SELECT d.id FROM {_RUNS} r JOIN {_DOCUMENTS} d ON d.id = r.document_id
         WHERE r.run_id = :run_id AND d.epoch = r.epoch FOR NO KEY UPDATE OF d
    )
    UPDATE {_RUNS} r
       SET status = 'queued', worker_id = NULL, yields = yields + CAST(:has_yielded AS boolean)::integer,
           failures = failures + CAST(:has_reader_died AS boolean)::integer,
           internal_errors = internal_errors + CAST(:has_internal_error AS boolean)::integer,
           deaths = deaths || CASE WHEN :has_reader_died THEN jsonb_build_array(jsonb_build_object(
               'process', '{MortalProcess.READER}', 'attempt', attempt, 'worker_id', worker_id,
               'is_isolated', is_isolated, 'at', now())) ELSE '[]' END,
           updated_at = now()
      FROM locked
     WHERE r.document_id = locked.id AND r.run_id = :run_id AND r.attempt = :attempt AND r.status = 'in_progress'
""")


_SET_ARTIFACT = text(f"""
    UPDATE {_RUNS}
       SET artifact_text_id = :artifact_text_id, saved_seconds = :saved_seconds, updated_at = now()
     WHERE run_id = :run_id
""")


_FINISH = text(f"""
    UPDATE {_RUNS}
       SET status = :status, error = CAST(:error AS jsonb), artifact_text_id = NULL, ended_at = clock_timestamp(),
           updated_at = now()
     WHERE run_id = :run_id
""")


DEFAULT_SILENCE = timedelta(seconds=15)


DOCUMENT_CHANGES_CHANNEL = "muniment_documents"
"""Channel on which the database announces changed documents. Listeners read the tables to see what they may know."""
_NOTIFY = text("SELECT pg_notify(:channel, :id)")


class RunRepository:
    """Queries of workers on runs and their steps."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def claim(
        self,
        run_id: UUID,
        worker_id: UUID | None = None,
        *,
        is_isolated: bool = False,
        silence: timedelta = DEFAULT_SILENCE,
    ) -> tuple[ClaimedRun, DocumentRecord] | None:
        """Claim the run, or take it over: the attempt increases, and the fence refuses any earlier worker.

        The death of the worker before is recorded if that worker has sent no heartbeat for as long as `silence`.
        Return `None` if the run has ended or the document has moved on to another epoch.
        """
        return await self._find(_CLAIM, run_id, worker_id=worker_id, is_isolated=is_isolated, silence=silence)

    async def peek(self, run_id: UUID) -> tuple[ClaimedRun, DocumentRecord] | None:
        """Read a claimable run without claiming it. The caller must not write."""
        return await self._find(_PEEK, run_id)

    async def _find(
        self, statement: TextClause, run_id: UUID, **values: Any
    ) -> tuple[ClaimedRun, DocumentRecord] | None:
        row = (await self._session.execute(statement, {"run_id": run_id, **values})).one_or_none()
        if row is None:
            return None
        deaths = tuple(Death.from_json(death) for death in row.deaths)
        return replace(ClaimedRun(*row[:_RUN_COLUMNS]), deaths=deaths), DocumentRecord(*row[_RUN_COLUMNS + 1 :])

    async def find_state(self, run: ClaimedRun) -> tuple[str | None, UUID | None]:
        """Return the step that the run began or ended last, and the artifact that it protects."""
        columns = select(ProcessingRun.last_step, ProcessingRun.artifact_text_id)
        row = (await self._session.execute(columns.where(ProcessingRun.run_id == run.run_id))).one_or_none()
        return (row.last_step, row.artifact_text_id) if row else (None, None)

    async def record_steps(
        self,
        run: ClaimedRun,
        steps: Mapping[str, StepStatus],
        *,
        snapshot: Mapping[str, Any] | None = None,
        error: Mapping[str, Any] | None = None,
    ) -> None:
        """Fence off workers that lost the run and record these steps; snapshot and error belong to the last one.

        This is the first statement of every worker transaction: until its commit nobody can move the document. A plain
        `WHERE epoch = …` would not do, because the lock of a foreign key lets a cancel commit in between.
        """
        recorded = await self._session.execute(
            _RECORD_STEPS,
            {
                "document_id": run.document_id,
                "epoch": run.epoch,
                "run_id": run.run_id,
                "attempt": run.attempt,
                "organization_id": run.organization_id,
                "step_names": list(steps),
                "statuses": [str(status) for status in steps.values()],
                "last_step": list(steps)[-1],
                "snapshot": json.dumps(snapshot) if snapshot is not None else None,
                "error": json.dumps(error) if error is not None else None,
            },
        )
        if recorded.first() is None:
            raise RunSuperseded

    async def announce_progress(self, run: ClaimedRun) -> None:
        """Notify the event streams that this document changed, with the commit."""
        values = {"channel": DOCUMENT_CHANGES_CHANNEL, "id": str(run.document_id)}
        await self._session.execute(_NOTIFY, values)

    async def requeue(
        self,
        run: ClaimedRun,
        *,
        has_reader_died: bool = False,
        has_internal_error: bool = False,
        has_yielded: bool = False,
    ) -> None:
        """Put the run back into the queue, unless it has ended or another worker has taken it over."""
        values = {
            "run_id": run.run_id,
            "attempt": run.attempt,
            "has_reader_died": has_reader_died,
            "has_internal_error": has_internal_error,
            "has_yielded": has_yielded,
        }
        await self._session.execute(_REQUEUE, values)

    async def set_artifact(self, run: ClaimedRun, artifact_text_id: UUID, saved_seconds: float | None) -> None:
        """Pin an artifact: the garbage collection keeps it until the run ends."""
        values = {"run_id": run.run_id, "artifact_text_id": artifact_text_id, "saved_seconds": saved_seconds}
        await self._session.execute(_SET_ARTIFACT, values)

    async def finish(self, run: ClaimedRun, status: RunStatus, error: Mapping[str, Any] | None = None) -> None:
        """Finish the run and unpin its artifact; from here on the document references it."""
        as_json = json.dumps(error) if error is not None else None
        await self._session.execute(_FINISH, {"run_id": run.run_id, "status": str(status), "error": as_json})
