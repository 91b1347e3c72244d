"""Changes that an external index must follow: record an intent, call the index, change the row
(docs/design.md#index-intents).

    async with updates.hide(principal, document, epoch) as work:        # archive; `show` for restore
        await change_status(work.session, Move.ARCHIVE, …)

    await updates.plan_delete(work, document, epoch)                    # purge, clear: in the transaction that deletes

`RecordedIndexUpdates` does this for an external index. With `NoExternalIndex` a change is one transaction.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Protocol
from uuid import UUID

import structlog

from muniment.errors import Unavailable
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Database, Work
from muniment.storage.vectors.intents import IndexUpdatePending, IntentRepository
from muniment.storage.vectors.port import ExternalIndex, IndexedDocument
from muniment.storage.vectors.tables import IntendedState

log = structlog.get_logger()


class ExternalIndexUpdates(Protocol):
    """Changes of documents that an external index must follow, whether there is one or not."""

    holds_copies: bool
    """Whether an external index holds copies of the documents' passages and must be updated with them."""

    def hide(
        self, caller: Principal, document: IndexedDocument, epoch: int
    ) -> AbstractAsyncContextManager[Work[Principal]]:
        """Open the transaction that makes the document unfindable. An external index has hidden its points by then.

        The caller has checked that the move is allowed, and checks again inside the block. `Unavailable` means that
        nothing was changed and that the index is being repaired. An error in the block has the same effect.
        """

    def show(
        self, caller: Principal, document: IndexedDocument, epoch: int
    ) -> AbstractAsyncContextManager[Work[Principal]]:
        """Open the transaction that makes the document findable again, as `hide` does for the opposite."""

    async def plan_delete(self, work: Work[Any], document: IndexedDocument, epoch: int) -> None:
        """Record that the document's points must be deleted, in the transaction that has just deleted its row."""

    async def delete_epochs(self, document: IndexedDocument, epochs: Sequence[int]) -> None:
        """Delete the points of runs that no longer count. They cannot be found, so failures are left to
        reconciliation."""

    async def delete_collection(self, kb_id: UUID) -> None:
        """Delete the collection of a deleted knowledge base. Failures are left to reconciliation."""


class NoExternalIndex(ExternalIndexUpdates):
    """Does nothing: the vectors are in PostgreSQL and change in the transaction of the document."""

    holds_copies = False

    def __init__(self, database: Database) -> None:
        self._database = database

    def hide(
        self, caller: Principal, document: IndexedDocument, epoch: int
    ) -> AbstractAsyncContextManager[Work[Principal]]:
        return self._database.work(caller)

    def show(
        self, caller: Principal, document: IndexedDocument, epoch: int
    ) -> AbstractAsyncContextManager[Work[Principal]]:
        return self._database.work(caller)

    async def plan_delete(self, work: Work[Any], document: IndexedDocument, epoch: int) -> None:
        pass

    async def delete_epochs(self, document: IndexedDocument, epochs: Sequence[int]) -> None:
        pass

    async def delete_collection(self, kb_id: UUID) -> None:
        pass


class RecordedIndexUpdates(ExternalIndexUpdates):
    """Records every change as an intent before it calls the index, so that the sweep can repair a crash."""

    holds_copies = True

    def __init__(self, database: Database, index: ExternalIndex) -> None:
        self._database = database
        self._index = index

    def hide(
        self, caller: Principal, document: IndexedDocument, epoch: int
    ) -> AbstractAsyncContextManager[Work[Principal]]:
        return self._update(caller, document, epoch, is_visible=False)

    def show(
        self, caller: Principal, document: IndexedDocument, epoch: int
    ) -> AbstractAsyncContextManager[Work[Principal]]:
        return self._update(caller, document, epoch, is_visible=True)

    @asynccontextmanager
    async def _update(
        self, caller: Principal, document: IndexedDocument, epoch: int, *, is_visible: bool
    ) -> AsyncIterator[Work[Principal]]:
        state = IntendedState.VISIBLE if is_visible else IntendedState.HIDDEN
        async with self._database.work(caller) as work:
            intent_id = await IntentRepository(work.session).open(document, state, epoch)
        await self._set_visible(document, is_visible=is_visible)
        async with self._database.work(caller) as work:
            await IntentRepository(work.session).close(intent_id)
            yield work

    async def _set_visible(self, document: IndexedDocument, *, is_visible: bool) -> None:
        try:
            await self._index.set_visible(document, is_visible=is_visible)
        except Unavailable as error:
            log.warning("external_index.update_failed", document_id=str(document.document_id), error=str(error))
            raise IndexUpdatePending from error

    async def plan_delete(self, work: Work[Any], document: IndexedDocument, epoch: int) -> None:
        await IntentRepository(work.session).open_delete(document, epoch)

    async def delete_epochs(self, document: IndexedDocument, epochs: Sequence[int]) -> None:
        try:
            await self._index.delete_epochs(document, epochs)
        except Unavailable as error:
            log.warning("external_index.delete_failed", document_id=str(document.document_id), error=str(error))

    async def delete_collection(self, kb_id: UUID) -> None:
        try:
            await self._index.delete_collection(kb_id)
        except Unavailable as error:
            log.warning("external_index.delete_failed", kb_id=str(kb_id), error=str(error))
