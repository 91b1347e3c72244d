"""Obstacles to lifecycle moves: one check for each, which returns the error that prevents the move, or `None`.

The engine raises the error, and `explain` shows its message, so the two cannot disagree.
"""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from muniment.documents.handover_status import HandoverStatus
from muniment.documents.handovers import list_open_handovers
from muniment.documents.name_conflicts import DuplicateDocument, find_name_conflict
from muniment.documents.repository import DocumentRepository, RevisionRepository
from muniment.documents.tables import Document
from muniment.errors import Conflict, MunimentError, Refused
from muniment.knowledge_bases.access import Access, KnowledgeBaseBeingDeleted
from muniment.knowledge_bases.tables import KnowledgeBase
from muniment.lifecycle.revision_snapshots import NothingToRevert, find_snapshot
from muniment.lifecycle.rules import RULES, Move, Obstacle
from muniment.storage.db.work import Work
from muniment.storage.vectors.intents import IndexUpdatePending, IntentRepository

MOVES_THAT_RENAME = frozenset({Move.REPLACE, Move.REVERT, Move.AUTO_REVERT, Move.RETRY_REPLACEMENT})


class HandoverPending(Conflict):
    """The document is being sent to Paperless. Wait until that is finished, or purge with cancel_hand_over=true"""

    code = "HandOverPending"


class RestoreNameTaken(Conflict):
    """Cannot restore: a document with this name already exists"""

    code = "RestoredNameTaken"

    def __init__(self, existing_id: UUID | None = None) -> None:
        super().__init__()
        self.existing_id = existing_id


class DocumentChangedConcurrently(Conflict):
    """Someone else changed this document. Reload and try again"""

    code = "MovedMeanwhile"


class NoFailedReplacement(Refused):
    """There is no failed replacement"""


@dataclass(frozen=True)
class ObstacleContext:
    """A move of one document, with everything its obstacles depend on. `explain` asks with the work of a service."""

    work: Work[Any]
    move: Move
    kb: KnowledgeBase
    document: Document
    index_holds_copies: bool
    new_name: str | None = None
    """Name that a replacement gives the document. None before the file is known."""
    cancelled_jobs: Collection[str] | None = None
    """Hand-over jobs that were cancelled for a purge. None if it was not asked to cancel any."""


@dataclass(frozen=True, kw_only=True)
class MoveContext(ObstacleContext):
    """A move that somebody makes or asks about."""

    access: Access
    """Access of the caller."""


async def find_obstacle(context: ObstacleContext) -> MunimentError | None:
    """Return the error of the first obstacle to the move. The status is not checked here."""
    for obstacle in RULES[context.move].obstacles:
        if error := await _CHECKS[obstacle](context):
            return error
    return None


async def _check_kb_deletion(context: ObstacleContext) -> MunimentError | None:
    return KnowledgeBaseBeingDeleted() if context.kb.leaving_since is not None else None


async def _check_snapshot(context: ObstacleContext) -> MunimentError | None:
    return None if await find_snapshot(context.work.session, context.document) else NothingToRevert()


async def _check_failed_replacement(context: ObstacleContext) -> MunimentError | None:
    failed = await RevisionRepository(context.work.session).find_failed(context.document.id)
    return None if failed else NoFailedReplacement()


async def _check_name(context: ObstacleContext) -> MunimentError | None:
    if context.move in MOVES_THAT_RENAME:
        name = await _find_new_name(context)
        return await find_name_conflict(context.work, context.document, name) if name else None
    return await _check_active_namesake(context)


async def _check_active_namesake(context: ObstacleContext) -> MunimentError | None:
    """Check the name of a document that becomes active again and keeps its name."""
    document = context.document
    namesake = await DocumentRepository(context.work.session).find_active(document.kb_id, document.name_key)
    if namesake is None or namesake.id == document.id:
        return None
    return RestoreNameTaken(namesake.id) if context.move is Move.RESTORE else DuplicateDocument(namesake)


async def _find_new_name(context: ObstacleContext) -> str | None:
    if context.move is Move.REPLACE:
        return context.new_name
    if context.move is Move.RETRY_REPLACEMENT:
        failed = await RevisionRepository(context.work.session).find_failed(context.document.id)
        return failed.name if failed else None
    snapshot = await find_snapshot(context.work.session, context.document)
    if snapshot is None:
        return None
    return (await RevisionRepository(context.work.session).get(context.document.id, snapshot.revision)).name


async def _check_handover(context: ObstacleContext) -> MunimentError | None:
    """Look at the jobs of all revisions: a replacement resets the document's own columns while its old job waits."""
    document, cancelled = context.document, context.cancelled_jobs
    open_handovers = await list_open_handovers(context.work.session, document.id)
    pending = {handover.job_id for handover in open_handovers if handover.is_pending}
    if not pending and document.archive_status != HandoverStatus.PENDING:
        return None
    return HandoverPending() if cancelled is None or not pending <= set(cancelled) else None


async def _check_index(context: ObstacleContext) -> MunimentError | None:
    if not context.index_holds_copies:
        return None
    is_pending = await IntentRepository(context.work.session).exists(context.document.id)
    return IndexUpdatePending() if is_pending else None


_CHECKS: dict[Obstacle, Callable[[ObstacleContext], Awaitable[MunimentError | None]]] = {
    Obstacle.KB_BEING_DELETED: _check_kb_deletion,
    Obstacle.NOTHING_TO_REVERT: _check_snapshot,
    Obstacle.NO_FAILED_REPLACEMENT: _check_failed_replacement,
    Obstacle.NAME_TAKEN: _check_name,
    Obstacle.HANDOVER_OPEN: _check_handover,
    Obstacle.INDEX_UPDATE_PENDING: _check_index,
}
