"""Run lifecycle moves (docs/design.md#state-machine).

A move is checked (rights, status, obstacles) and an external index is updated. Then the document is locked, checked
again and changed in one transaction. Rights are checked here and not in the endpoints, so that every caller gets the
same answer.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar
from uuid import UUID

from muniment.documents.handovers import Handovers
from muniment.documents.names import name_key
from muniment.documents.quotas import Quotas
from muniment.documents.repository import DocumentNotFound, DocumentRepository
from muniment.documents.tables import Document, Status
from muniment.errors import Forbidden
from muniment.knowledge_bases.access import Access, get_access
from muniment.knowledge_bases.repository import KnowledgeBaseNotFound
from muniment.lifecycle.observability import Operation, count_move, observe
from muniment.lifecycle.obstacles import MoveContext, find_obstacle
from muniment.lifecycle.proof.prover import PurgeProver
from muniment.lifecycle.rules import RULES, Move, Visibility, resolve_target
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Database, Work
from muniment.storage.deletions.ledger import Ledger
from muniment.storage.tasks.port import TaskQueue
from muniment.storage.vectors.external_index_updates import ExternalIndexUpdates
from muniment.storage.vectors.port import IndexedDocument

Result = TypeVar("Result")


@dataclass(frozen=True)
class Target:
    """A document that a caller wants to move."""

    caller: Principal
    kb_id: UUID
    document_id: UUID


class DocumentMove(ABC, Generic[Result]):
    """One lifecycle move. The engine calls the hooks in the order given here. Only `apply` is required."""

    move: ClassVar[Move]
    needs_preview: ClassVar[bool] = False
    """Whether the document is read in a transaction before that of the move even if no external index is updated."""
    new_name: str | None = None
    """Name that the document gets. Other documents of that name are locked with it."""
    cancelled_jobs: Collection[str] | None = None
    """Hand-over jobs that were cancelled for this move. None if it does not cancel any."""

    labels: Mapping[str, bool] = {}
    """Labels of the move's counter."""

    async def prepare(self, engine: "MoveEngine", target: Target) -> None:
        """Do what must be done before the move, with no transaction open."""

    async def visibility(self, context: MoveContext) -> Visibility | None:
        """Return the update of an external index. Called in a transaction before that of the move."""
        return RULES[self.move].visibility

    @abstractmethod
    async def apply(self, context: MoveContext, engine: "MoveEngine") -> Result:
        """Change the locked document, in the transaction of the move."""

    async def finish(self, result: Result, engine: "MoveEngine", operation: Operation) -> None:
        """Let other stores follow after the commit. What fails here is left to a sweep."""


@dataclass(frozen=True)
class MoveEngine:
    """Runs moves, and holds what they need."""

    database: Database
    index: ExternalIndexUpdates
    tasks: TaskQueue
    ledger: Ledger
    handovers: Handovers
    prover: PurgeProver
    quotas: Quotas

    async def run(self, move: DocumentMove[Result], target: Target) -> Result:
        """Make one move, with its log line and duration. `Unavailable` means that nothing was changed."""
        async with observe_move(move.move, target) as operation:
            result = await self.commit(move, target)
            await move.finish(result, self, operation)
        return result

    async def commit(self, move: DocumentMove[Result], target: Target) -> Result:
        """Make the move without finishing it: bulk and knowledge base purge finish many documents together."""
        await move.prepare(self, target)
        async with self._transaction(move, target) as work:
            context = await self._permit(work, move, target, lock=True)
            result = await move.apply(context, self)
        count_move(move.move, target.kb_id, target.caller.user_id, **move.labels)
        return result

    async def permit(
        self,
        work: Work[Principal],
        move: Move,
        target: Target,
        *,
        lock: bool = False,
        new_name: str | None = None,
        cancelled_jobs: Collection[str] | None = None,
    ) -> MoveContext:
        """Return the document and the caller's access to it, or raise the reason why the move is not possible.

        Rights come first, then whether the document exists, then its status, then obstacles. A locked document does not
        change until the transaction ends.
        """
        access = await get_document_access(work, target.kb_id)
        if access.level not in RULES[move].allowed:
            raise Forbidden
        document = await _lock(work, target, new_name) if lock else await _get(work, target)
        resolve_target(move, Status(document.status))
        context = MoveContext(
            work,
            move,
            access.kb,
            document,
            index_holds_copies=self.index.holds_copies,
            new_name=new_name,
            cancelled_jobs=cancelled_jobs,
            access=access,
        )
        if error := await find_obstacle(context):
            raise error
        return context

    async def _permit(
        self, work: Work[Principal], move: DocumentMove[Result], target: Target, *, lock: bool
    ) -> MoveContext:
        return await self.permit(
            work, move.move, target, lock=lock, new_name=move.new_name, cancelled_jobs=move.cancelled_jobs
        )

    @asynccontextmanager
    async def _transaction(self, move: DocumentMove[Result], target: Target) -> AsyncIterator[Work[Principal]]:
        updates_index = RULES[move.move].visibility is not None and self.index.holds_copies
        if not (updates_index or move.needs_preview):
            async with self.database.work(target.caller) as work:
                yield work
            return
        async with self.database.work(target.caller) as work:  # before the index is updated
            context = await self._permit(work, move, target, lock=False)
            visibility = await move.visibility(context)
        document = context.document
        tell = self.index.hide if visibility is Visibility.HIDDEN else self.index.show
        async with tell(target.caller, indexed_document(document), document.epoch) as work:
            yield work


def observe_move(move: Move, target: Target) -> AbstractAsyncContextManager[Operation]:
    """Observe one move of one document; see `observe`."""
    return observe(move, kb_id=target.kb_id, document_id=target.document_id, user_id=target.caller.user_id)


async def _get(work: Work[Principal], target: Target) -> Document:
    return await DocumentRepository(work.session).get(target.kb_id, target.document_id)


async def _lock(work: Work[Principal], target: Target, new_name: str | None) -> Document:
    documents = DocumentRepository(work.session)
    if new_name is None:
        return await documents.lock(target.kb_id, target.document_id)
    return await documents.lock_with_namesakes(target.kb_id, target.document_id, name_key(new_name))


async def get_document_access(work: Work[Principal], kb_id: UUID) -> Access:
    """Return the caller's access. Documents of a knowledge base they cannot see do not exist: `DocumentNotFound`."""
    try:
        return await get_access(work, kb_id)
    except KnowledgeBaseNotFound:
        raise DocumentNotFound from None


async def require_manager(work: Work[Principal], kb_id: UUID) -> Access:
    """Return the caller's access, or raise `Forbidden` for members who are neither owner nor admin."""
    access = await get_document_access(work, kb_id)
    access.require_manage()
    return access


def indexed_document(document: Document) -> IndexedDocument:
    """Return the document as a vector index identifies it."""
    return IndexedDocument(document.id, document.kb_id, document.organization_id)
