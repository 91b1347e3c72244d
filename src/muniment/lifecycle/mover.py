"""What a move works with that changes who finds the document: the index is told of it (DESIGN §5.5)."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

from muniment.documents.repository import DocumentRepository
from muniment.documents.tables import Document, Status
from muniment.knowledge_bases.access import Access
from muniment.lifecycle.permission import require_mover
from muniment.lifecycle.rules import Move, target
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Database, Work
from muniment.storage.index_intents.moves import IndexMoves
from muniment.storage.tasks.port import Tasks
from muniment.storage.vectors.port import Indexed

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
