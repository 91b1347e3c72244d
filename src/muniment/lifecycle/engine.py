"""Run lifecycle moves: check access and rules, lock the document, and tell an external index (docs/design.md#index-intents).

Access is checked in the use cases, so that API, CLI and jobs share the answer.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

from muniment.documents.name_conflicts import require_name_available_for
from muniment.documents.names import name_key
from muniment.documents.repository import DocumentNotFound, DocumentRepository
from muniment.documents.tables import Document, Status
from muniment.knowledge_bases.access import Access, get_access
from muniment.knowledge_bases.repository import KnowledgeBaseNotFound
from muniment.lifecycle.rules import BLOCKED_BY_KB_DELETION, Move, resolve_target
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Database, Work
from muniment.storage.tasks.port import TaskQueue
from muniment.storage.vectors.external_index_updates import ExternalIndexUpdates
from muniment.storage.vectors.port import IndexedDocument


async def get_document_access(work: Work[Principal], kb_id: UUID) -> Access:
    """To whoever does not see the knowledge base, its documents do not exist: `DocumentNotFound`."""
    try:
        return await get_access(work, kb_id)
    except KnowledgeBaseNotFound:
        raise DocumentNotFound from None


async def require_manager(work: Work[Principal], kb_id: UUID) -> Access:
    """The same, and `Forbidden` to those who may only see, or add to, what is in it."""
    access = await get_document_access(work, kb_id)
    access.require_manage()
    return access


async def require_move_access(work: Work[Principal], move: Move, kb_id: UUID) -> Access:
    """The same, and `KnowledgeBaseBeingDeleted` where the move would keep a document that is on its way out with all."""
    access = await require_manager(work, kb_id)
    if move in BLOCKED_BY_KB_DELETION:
        access.require_not_being_deleted()
    return access


DocumentLookup = Callable[[Work[Principal]], Awaitable[Document]]


@dataclass(frozen=True)
class MoveEngine:
    database: Database
    index: ExternalIndexUpdates
    tasks: TaskQueue

    def hiding_transaction(
        self, caller: Principal, lookup: DocumentLookup
    ) -> AbstractAsyncContextManager[Work[Principal]]:
        """The transaction of a move after which nobody finds the document; an index with copies knows by then."""
        return self._transaction(caller, lookup, self.index.hide)

    def showing_transaction(
        self, caller: Principal, lookup: DocumentLookup
    ) -> AbstractAsyncContextManager[Work[Principal]]:
        """The same for a document that is to be found again."""
        return self._transaction(caller, lookup, self.index.show)

    @asynccontextmanager
    async def _transaction(
        self,
        caller: Principal,
        lookup: DocumentLookup,
        open_transaction: Callable[[Principal, IndexedDocument, int], AbstractAsyncContextManager[Work[Principal]]],
    ) -> AsyncIterator[Work[Principal]]:
        if not self.index.holds_copies:  # nobody to tell, and the transaction itself sees whether the move is allowed
            async with self.database.work(caller) as work:
                yield work
            return
        async with self.database.work(caller) as work:
            seen = await lookup(work)
        async with open_transaction(caller, indexed_document(seen), seen.epoch) as work:
            yield work


async def permit(work: Work[Principal], move: Move, kb_id: UUID, document_id: UUID) -> Document:
    """The document, if the caller may make this move with it now: asked before the index is told anything."""
    await require_move_access(work, move, kb_id)
    document = await DocumentRepository(work.session).get(kb_id, document_id)
    resolve_target(move, Status(document.status))
    return document


async def permit_locked(work: Work[Principal], move: Move, kb_id: UUID, document_id: UUID) -> Document:
    """The same in the transaction of the move: nobody else changes the document until it ends."""
    return await lock_permitted(work, move, await require_move_access(work, move, kb_id), document_id)


async def lock_permitted(work: Work[Principal], move: Move, access: Access, document_id: UUID) -> Document:
    """The same in a knowledge base that the caller was found to manage."""
    document = await DocumentRepository(work.session).lock(access.kb.id, document_id)
    resolve_target(move, Status(document.status))
    return document


def indexed_document(document: Document) -> IndexedDocument:
    return IndexedDocument(document.id, document.kb_id, document.organization_id)


async def permit_locked_with_name(
    work: Work[Principal], move: Move, kb_id: UUID, document_id: UUID, *, name: str
) -> tuple[Document, Sequence[Document]]:
    """The document, if the caller may make this move with it and it may have this name then, and the failed uploads of
    that name; nobody else changes any of them until the transaction ends."""
    await require_move_access(work, move, kb_id)
    document = await DocumentRepository(work.session).lock_with_namesakes(kb_id, document_id, name_key(name))
    resolve_target(move, Status(document.status))
    return document, await require_name_available_for(work, document, name)
