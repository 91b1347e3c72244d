"""The edge of a replacement and of its way back: bytes outside any transaction, the move inside one."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from uuid import UUID

import structlog

from muniment.documents.repository import DocumentRepository
from muniment.documents.staging import StagedUpload, Staging
from muniment.documents.tables import Document, Status
from muniment.errors import MunimentError
from muniment.knowledge_bases.access import Access
from muniment.lifecycle.measured import measured, moved
from muniment.lifecycle.mover import Mover
from muniment.lifecycle.permission import require_mover
from muniment.lifecycle.replacing.replace import replace
from muniment.lifecycle.replacing.revert import revert
from muniment.lifecycle.rules import Move, target
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work
from muniment.storage.deletions.ledger import Ledger
from muniment.telemetry.metrics import UPLOAD_BYTES, UPLOADS

log = structlog.get_logger()


@dataclass(frozen=True)
class Place:
    """A document whose content the caller may replace at this moment."""

    access: Access
    document_id: UUID


class Replacing:
    def __init__(self, mover: Mover, staging: Staging, ledger: Ledger) -> None:
        self._mover = mover
        self._staging = staging
        self._ledger = ledger

    async def find_place(self, caller: Principal, kb_id: UUID, document_id: UUID) -> Place:
        """Right and rule, asked before the first byte is read."""
        async with self._mover.database.work(caller) as work:
            return Place(await _permit(work, kb_id, document_id), document_id)

    def stage(
        self, place: Place, name: str, chunks: AsyncIterator[bytes], *, now: datetime
    ) -> AbstractAsyncContextManager[StagedUpload]:
        """The block receives the bytes or raises; if it raises, the document stands as before and nothing is left."""
        permit = partial(_permit, kb_id=place.access.kb.id, document_id=place.document_id)
        return self._staging.stage_revision(place.access, place.document_id, permit, name=name, chunks=chunks, now=now)

    async def receive(self, place: Place, staged: StagedUpload) -> Document:
        """Commit the new revision; a failed twin of its name that made way is erased after."""
        caller, kb_id = place.access.principal, place.access.kb.id
        under_way = measured("replace", kb_id=kb_id, document_id=place.document_id, user_id=caller.user_id)
        async with under_way, self._mover.database.work(caller) as work:
            document, cleared = await replace(work, self._mover.tasks, staged, kb_id)
        moved(Move.REPLACE, kb_id, caller.user_id)
        for _ in cleared:
            moved(Move.CLEAR, kb_id, caller.user_id, auto=True)
        UPLOADS.labels("accepted").inc()
        UPLOAD_BYTES.inc(staged.file_size)
        await self._erase(document, [deletion_id for item in cleared for deletion_id in item.deletion_ids])
        return document

    async def revert(self, caller: Principal, kb_id: UUID, document_id: UUID) -> Document:
        """Bring the last readable revision back; the bytes that could not be read are erased after."""
        async with measured("revert", kb_id=kb_id, document_id=document_id, user_id=caller.user_id):
            document, deletion_ids = await revert(self._mover, caller, kb_id, document_id)
        moved(Move.REVERT, kb_id, caller.user_id)
        await self._erase(document, deletion_ids)
        return document

    async def _erase(self, document: Document, deletion_ids: Sequence[UUID]) -> None:
        if not deletion_ids:
            return
        try:
            await self._ledger.carry_out(document.organization_id, deletion_ids)
        except MunimentError as error:  # the move itself is safe; the sweep finishes the rest
            log.warning("replacing.erase_failed", document_id=str(document.id), error=error.message)


async def _permit(work: Work[Principal], kb_id: UUID, document_id: UUID) -> Access:
    access = await require_mover(work, Move.REPLACE, kb_id)
    document = await DocumentRepository(work.session).get(kb_id, document_id)
    target(Move.REPLACE, Status(document.status))
    return access
