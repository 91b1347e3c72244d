"""Changes that an external index must be told of: write the intent, call the index, change the row (docs/design.md#index-intents).

    async with updates.hide(principal, document, epoch) as work:        # archive; `show` for restore
        await transition(work.session, Move.ARCHIVE, …)

    planned = await updates.plan_delete(work, document, epoch)          # purge, clear: where the row is deleted

With the index inside PostgreSQL all of this is one transaction, and no intent is written.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import structlog

from muniment.errors import Unavailable
from muniment.storage.db.principal import Principal, Service
from muniment.storage.db.work import Database, Work
from muniment.storage.vectors.intents import IndexUpdatePending, IntentRepository
from muniment.storage.vectors.port import IndexedDocument, VectorIndex
from muniment.storage.vectors.tables import IntendedState

log = structlog.get_logger()


@dataclass(frozen=True)
class PlannedDelete:
    document: IndexedDocument
    intent_id: UUID | None
    """None where the index holds no copies."""


class ExternalIndexUpdates:
    def __init__(self, database: Database, index: VectorIndex) -> None:
        self._database = database
        self._index = index

    @property
    def holds_copies(self) -> bool:
        """Whether the index is told anything: with one inside PostgreSQL there is nothing to tell."""
        return self._index.holds_copies

    def hide(
        self, caller: Principal, document: IndexedDocument, epoch: int
    ) -> AbstractAsyncContextManager[Work[Principal]]:
        """The transaction in which the document's row is changed so that nobody finds it; the index knows by then.

        The caller has looked that the move is allowed, and looks again in the block. `Unavailable`: nothing was
        changed, and the index is being put back. An error in the block has the same effect.
        """
        return self._update(caller, document, epoch, is_visible=False)

    def show(
        self, caller: Principal, document: IndexedDocument, epoch: int
    ) -> AbstractAsyncContextManager[Work[Principal]]:
        """The same for a document that is to be found again."""
        return self._update(caller, document, epoch, is_visible=True)

    @asynccontextmanager
    async def _update(
        self, caller: Principal, document: IndexedDocument, epoch: int, *, is_visible: bool
    ) -> AsyncIterator[Work[Principal]]:
        if not self._index.holds_copies:
            async with self._database.work(caller) as work:
                yield work
            return
        wanted = IntendedState.VISIBLE if is_visible else IntendedState.HIDDEN
        async with self._database.work(caller) as work:
            intent_id = await IntentRepository(work.session).open(document, wanted, epoch)
        await self._set_visible(document, is_visible=is_visible)
        async with self._database.work(caller) as work:
            await IntentRepository(work.session).close(intent_id)
            yield work

    async def _set_visible(self, document: IndexedDocument, *, is_visible: bool) -> None:
        try:
            await self._index.set_visible(document, is_visible=is_visible)
        except Unavailable as error:
            log.warning("index.move_failed", document_id=str(document.document_id), error=str(error))
            raise IndexUpdatePending from error

    async def delete_epochs(self, document: IndexedDocument, epochs: Sequence[int]) -> None:
        """Remove the passages of runs that count no more. Nobody finds them: what fails, the reconciliation ends."""
        if not self._index.holds_copies:
            return
        try:
            await self._index.delete_epochs(document, epochs)
        except Unavailable as error:
            log.warning("index.removal_failed", document_id=str(document.document_id), error=str(error))

    async def delete_collection(self, kb_id: UUID) -> None:
        """Remove what held the passages of a knowledge base that is gone. What fails, the reconciliation ends."""
        if not self._index.holds_copies:
            return
        try:
            await self._index.delete_collection(kb_id)
        except Unavailable as error:
            log.warning("index.removal_failed", kb_id=str(kb_id), error=str(error))

    async def plan_delete(self, work: Work[Any], document: IndexedDocument, epoch: int) -> PlannedDelete:
        """In the transaction that deletes the document's row, after it."""
        if not self._index.holds_copies:
            return PlannedDelete(document, None)
        return PlannedDelete(document, await IntentRepository(work.session).open_delete(document, epoch))

    async def delete(self, planned: PlannedDelete) -> bool:
        """Remove every passage, and count. `False`: not certain yet, the sweep goes on with it."""
        if planned.intent_id is None:
            return True
        document = planned.document
        try:
            await self._index.delete_document(document)
        except Unavailable as error:
            log.warning("index.removal_failed", document_id=str(document.document_id), error=str(error))
            return False
        async with self._database.service_work(Service(document.organization_id)) as work:
            await IntentRepository(work.session).delete(planned.intent_id)
        return True
