"""The name that a document is to have after a move, and who has it already."""

from collections.abc import Sequence
from uuid import UUID

from muniment.documents.duplicates import DuplicateDocument, require_free_name
from muniment.documents.names import name_key
from muniment.documents.repository import DocumentRepository
from muniment.documents.tables import Document, Status
from muniment.lifecycle.permission import require_mover
from muniment.lifecycle.rules import Move, target
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work


async def hold_with_name(
    work: Work[Principal], move: Move, kb_id: UUID, document_id: UUID, *, name: str
) -> tuple[Document, Sequence[Document]]:
    """The document, if the caller may make this move with it and it may have this name then, and the failed uploads of
    that name; nobody else changes any of them until the transaction ends."""
    await require_mover(work, move, kb_id)
    document = await DocumentRepository(work.session).lock_with_namesakes(kb_id, document_id, name_key(name))
    target(move, Status(document.status))
    return document, await require_name(work, document, name)


async def require_name(work: Work[Principal], document: Document, name: str) -> Sequence[Document]:
    """As on upload (`DuplicateDocument`), but no document is in its own way."""
    key = name_key(name)
    active = await DocumentRepository(work.session).find_active(document.kb_id, key)
    if active is not None and active.id != document.id:
        raise DuplicateDocument(active)
    return await require_free_name(work, document.kb_id, key, besides=document.id)
