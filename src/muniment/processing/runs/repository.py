"""Claim a run, fence off workers that lost it, record its steps and announce its progress."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import TextClause, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.documents.runs import ProcessingRun, RunPurpose, RunStatus
from muniment.documents.tables import Document
from muniment.errors import MunimentError
from muniment.processing.runs.tables import StepStatus


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
    """The text that it shows."""
    processing_status: str | None


@dataclass(frozen=True)
class ClaimedRun:
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
    """How often a worker or a reader died over it."""

    @property
    def is_reread(self) -> bool:
        return self.purpose == RunPurpose.REREAD


# The fence and the record in one statement, first of every node's transaction. The document before the run: whoever
# moves a document takes them in that order.
_RECORD_STEPS = text("""
    WITH held AS (
        SELECT id FROM documents WHERE id = :document_id AND epoch = :epoch FOR NO KEY UPDATE
    ), claimed AS (
        UPDATE document_processing_runs r SET last_step = :last_step, updated_at = now() FROM held
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


_PEEK = text("""
    SELECT r.run_id, r.organization_id, r.document_id, r.epoch, r.attempt, r.revision, r.purpose, r.force,
           r.algorithm_version, r.failures, d.content_hmac, d.original_uri, d.media_type, d.knowledge_base_id,
           d.artifact_text_id, d.processing_status
      FROM document_processing_runs r JOIN documents d ON d.id = r.document_id
     WHERE r.run_id = :run_id AND d.epoch = r.epoch AND r.status IN ('queued', 'in_progress')
""")


# The document first here too. A run that is `in_progress` was left by a worker that died.
_CLAIM = text("""
    WITH held AS (
        SELECT r.run_id, d.content_hmac, d.original_uri, d.media_type, d.knowledge_base_id,
               d.artifact_text_id AS shown, d.processing_status
          FROM document_processing_runs r JOIN documents d ON d.id = r.document_id
         WHERE r.run_id = :run_id AND d.epoch = r.epoch FOR NO KEY UPDATE OF d
    )
    UPDATE document_processing_runs r
       SET attempt = r.attempt + 1, failures = r.failures + (r.status = 'in_progress')::integer,
           status = 'in_progress', updated_at = now()
      FROM held WHERE r.run_id = held.run_id AND r.status IN ('queued', 'in_progress')
    RETURNING r.run_id, r.organization_id, r.document_id, r.epoch, r.attempt, r.revision, r.purpose, r.force,
              r.algorithm_version, r.failures, held.content_hmac, held.original_uri, held.media_type,
              held.knowledge_base_id, held.shown, held.processing_status
""")


_RUN_COLUMNS = 10


_REQUEUE = text("""
    UPDATE document_processing_runs SET status = 'queued', failures = failures + :failures, updated_at = now()
     WHERE run_id = :run_id AND attempt = :attempt AND status = 'in_progress'
""")


_SET_ARTIFACT = text("""
    UPDATE document_processing_runs
       SET artifact_text_id = :artifact_text_id, saved_seconds = :saved_seconds, updated_at = now()
     WHERE run_id = :run_id
""")


_FINISH = text("""
    UPDATE document_processing_runs
       SET status = :status, error = CAST(:error AS jsonb), artifact_text_id = NULL, ended_at = clock_timestamp(),
           updated_at = now()
     WHERE run_id = :run_id
""")


class RunRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def claim(self, run_id: UUID) -> tuple[ClaimedRun, DocumentRecord] | None:
        """Take the run, or take it over: the attempt grows, and an earlier worker's fence no longer holds.

        `None` when it has ended, or when the document has moved on to another epoch.
        """
        return await self._find(_CLAIM, run_id)

    async def peek(self, run_id: UUID) -> tuple[ClaimedRun, DocumentRecord] | None:
        """As `claim`, and takes nothing: whoever looked may not write."""
        return await self._find(_PEEK, run_id)

    async def _find(self, statement: TextClause, run_id: UUID) -> tuple[ClaimedRun, DocumentRecord] | None:
        row = (await self._session.execute(statement, {"run_id": run_id})).one_or_none()
        return (ClaimedRun(*row[:_RUN_COLUMNS]), DocumentRecord(*row[_RUN_COLUMNS:])) if row else None

    async def hold(self, run: ClaimedRun) -> Document:
        """The fence, first statement of every worker transaction: from here to the commit nobody can move the document.

        A plain `WHERE epoch = …` would not do: the lock of a foreign key lets a cancel commit in between.
        """
        document = await self._session.scalar(
            select(Document)
            .where(Document.id == run.document_id, Document.epoch == run.epoch)
            .with_for_update(key_share=True)
        )
        attempt = await self._session.scalar(
            select(ProcessingRun.attempt).where(ProcessingRun.run_id == run.run_id).with_for_update()
        )
        if document is None or attempt != run.attempt:
            raise RunSuperseded
        return document

    async def record_steps(
        self,
        run: ClaimedRun,
        steps: Mapping[str, StepStatus],
        *,
        snapshot: Mapping[str, Any] | None = None,
        error: Mapping[str, Any] | None = None,
    ) -> None:
        """The fence as in `hold`, and the record of these steps with it; snapshot and error are the last one's."""
        entered = await self._session.execute(
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
        if entered.first() is None:
            raise RunSuperseded

    async def requeue(self, run: ClaimedRun, *, has_failed: bool) -> None:
        """It waits again, unless somebody else has it or it has ended."""
        values = {"run_id": run.run_id, "attempt": run.attempt, "failures": int(has_failed)}
        await self._session.execute(_REQUEUE, values)

    async def set_artifact(self, run: ClaimedRun, artifact_text_id: UUID, saved_seconds: float | None) -> None:
        """Hold an artifact against the garbage collection until the run ends."""
        values = {"run_id": run.run_id, "artifact_text_id": artifact_text_id, "saved_seconds": saved_seconds}
        await self._session.execute(_SET_ARTIFACT, values)

    async def finish(self, run: ClaimedRun, status: RunStatus, error: Mapping[str, Any] | None = None) -> None:
        """What the document shows is held by the document itself from now on."""
        as_json = json.dumps(error) if error is not None else None
        await self._session.execute(_FINISH, {"run_id": run.run_id, "status": str(status), "error": as_json})


DOCUMENT_CHANGES_CHANNEL = "muniment_documents"
"""Where the database tells that a document changed; who may know what is asked of the tables by whoever listens."""
