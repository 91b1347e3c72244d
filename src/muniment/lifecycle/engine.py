"""Run lifecycle moves: check access and rules, lock the document, and tell an external index (DESIGN §5.5).

Access is checked in the use cases, so that API, CLI and jobs share the answer.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

from muniment.documents.name_conflicts import require_name
from muniment.documents.names import name_key
from muniment.documents.repository import DocumentNotFound, DocumentRepository
from muniment.documents.tables import Document, Status
from muniment.knowledge_bases.access import Access, get_access
from muniment.knowledge_bases.repository import KnowledgeBaseNotFound
from muniment.lifecycle.rules import KEEPS, Move, target
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Database, Work
from muniment.storage.tasks.port import Tasks
from muniment.storage.vectors.external_index_updates import IndexMoves
from muniment.storage.vectors.port import Indexed


async def require_member(work: Work[Principal], kb_id: UUID) -> Access:
    """To whoever does not see the knowledge base, its documents do not exist: `DocumentNotFound`."""
    try:
        return await get_access(work, kb_id)
    except KnowledgeBaseNotFound:
        raise DocumentNotFound from None


async def require_manager(work: Work[Principal], kb_id: UUID) -> Access:
    """The same, and `Forbidden` to those who may only see, or add to, what is in it."""
    access = await require_member(work, kb_id)
    access.require_manage()
    return access


async def require_mover(work: Work[Principal], move: Move, kb_id: UUID) -> Access:
    """The same, and `KnowledgeBaseLeaving` where the move would keep a document that is on its way out with all."""
    access = await require_manager(work, kb_id)
    if move in KEEPS:
        access.require_staying()
    return access


Look = Callable[[Work[Principal]], Awaitable[Document]]


@dataclass(frozen=True)
class Mover:
    database: Database
    index: IndexMoves
    tasks: Tasks

    def hiding(self, caller: Principal, look: Look) -> AbstractAsyncContextManager[Work[Principal]]:
        """The transaction of a move after which nobody finds the document; an index with copies knows by then."""
        return self._moving(caller, look, self.index.hiding)

    def showing(self, caller: Principal, look: Look) -> AbstractAsyncContextManager[Work[Principal]]:
        """The same for a document that is to be found again."""
        return self._moving(caller, look, self.index.showing)

    @asynccontextmanager
    async def _moving(
        self,
        caller: Principal,
        look: Look,
        moving: Callable[[Principal, Indexed, int], AbstractAsyncContextManager[Work[Principal]]],
    ) -> AsyncIterator[Work[Principal]]:
        if not self.index.holds_copies:  # nobody to tell, and the transaction itself sees whether the move is allowed
            async with self.database.work(caller) as work:
                yield work
            return
        async with self.database.work(caller) as work:
            seen = await look(work)
        async with moving(caller, indexed(seen), seen.epoch) as work:
            yield work


async def look(work: Work[Principal], move: Move, kb_id: UUID, document_id: UUID) -> Document:
    """The document, if the caller may make this move with it now: asked before the index is told anything."""
    await require_mover(work, move, kb_id)
    document = await DocumentRepository(work.session).get(kb_id, document_id)
    target(move, Status(document.status))
    return document


async def hold(work: Work[Principal], move: Move, kb_id: UUID, document_id: UUID) -> Document:
    """The same in the transaction of the move: nobody else changes the document until it ends."""
    return await hold_in(work, move, await require_mover(work, move, kb_id), document_id)


async def hold_in(work: Work[Principal], move: Move, access: Access, document_id: UUID) -> Document:
    """The same in a knowledge base that the caller was found to manage."""
    document = await DocumentRepository(work.session).lock(access.kb.id, document_id)
    target(move, Status(document.status))
    return document


def indexed(document: Document) -> Indexed:
    return Indexed(document.id, document.kb_id, document.organization_id)


async def hold_with_name(
    work: Work[Principal], move: Move, kb_id: UUID, document_id: UUID, *, name: str
) -> tuple[Document, Sequence[Document]]:
    """The document, if the caller may make this move with it and it may have this name then, and the failed uploads of
    that name; nobody else changes any of them until the transaction ends."""
    await require_mover(work, move, kb_id)
    document = await DocumentRepository(work.session).lock_with_namesakes(kb_id, document_id, name_key(name))
    target(move, Status(document.status))
    return document, await require_name(work, document, name)
