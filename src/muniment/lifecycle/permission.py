"""Who may move a document. Asked in the use cases, so that API, CLI and jobs share the answer."""

from uuid import UUID

from muniment.documents.repository import DocumentNotFound
from muniment.knowledge_bases.access import Access, get_access
from muniment.knowledge_bases.repository import KnowledgeBaseNotFound
from muniment.lifecycle.rules import Move
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work

KEEPS = frozenset({Move.RESTORE, Move.REPLACE, Move.REVERT})


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
