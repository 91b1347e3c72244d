"""Queries on index intents: changes of the external index whose outcome is not confirmed
(docs/design.md#index-intents).
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, delete, func, literal_column, select, update
from sqlalchemy.dialects.postgresql import Insert, insert
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.errors import Unavailable
from muniment.storage.db.base import new_id
from muniment.storage.vectors.port import IndexedDocument
from muniment.storage.vectors.tables import IndexIntent, IntendedState

GRACE_PERIOD = timedelta(seconds=5)
"""Time for a move to finish before the sweep claims its intent: longer than the timeout of a call to the index."""

ONE_SECOND: ColumnElement[timedelta] = literal_column("interval '1 second'")


class IndexUpdatePending(Unavailable):
    """The search index is being repaired, so the document was not changed. Try again shortly"""

    code = "IndexBeingPutBack"


class IntentRepository:
    """Queries on index intents."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def open(self, document: IndexedDocument, state: IntendedState, epoch: int) -> UUID:
        """Record an intent and return its id. Raise `IndexUpdatePending` if the document has an open one."""
        statement = _insert_statement(document, state, epoch).on_conflict_do_nothing(index_elements=["document_id"])
        intent_id: UUID | None = await self._session.scalar(statement.returning(IndexIntent.id))
        if intent_id is None:
            raise IndexUpdatePending
        return intent_id

    async def ensure_open(self, document: IndexedDocument, state: IntendedState, epoch: int) -> None:
        """Record an intent in the transaction that changes the row, for the sweep to settle at once.

        An open intent of the document is enough: the sweep applies what the row says by then.
        """
        statement = _insert_statement(document, state, epoch).values(next_attempt_at=func.now())
        await self._session.execute(statement.on_conflict_do_nothing(index_elements=["document_id"]))

    async def open_delete(self, document: IndexedDocument, epoch: int) -> UUID:
        """Record that all points must be deleted, in the transaction that deletes the row. Replace any other intent."""
        statement = _insert_statement(document, IntendedState.GONE, epoch)
        replaced = ("id", "knowledge_base_id", "wanted", "epoch", "created_at", "attempts", "next_attempt_at")
        statement = statement.on_conflict_do_update(
            index_elements=["document_id"], set_={name: statement.excluded[name] for name in replaced}
        )
        intent_id: UUID = (await self._session.execute(statement.returning(IndexIntent.id))).scalar_one()
        return intent_id

    async def close(self, intent_id: UUID) -> None:
        """Delete the intent, in the transaction that changes the row, before that: the sweep ignores the document then.

        Raise `IndexUpdatePending` if the sweep has claimed the intent: it may have undone the change since.
        """
        untouched = delete(IndexIntent).where(IndexIntent.id == intent_id, IndexIntent.attempts == 0)
        if await self._session.scalar(untouched.returning(IndexIntent.id)) is None:
            raise IndexUpdatePending

    async def exists(self, document_id: UUID) -> bool:
        """Return whether the outcome of an earlier change of the document is still unknown."""
        intent = select(IndexIntent.id).where(IndexIntent.document_id == document_id)
        return await self._session.scalar(intent) is not None

    async def claim_due(self) -> IndexIntent | None:
        """Claim one due intent for the sweep. The next attempt can begin after a wait (5 s, doubling to 60 s)."""
        due = (
            select(IndexIntent.document_id)
            .where(IndexIntent.next_attempt_at <= func.now())
            .order_by(IndexIntent.next_attempt_at)
            .limit(1)
            .with_for_update(skip_locked=True)
        )
        wait = func.least(60, 5 * func.power(2, func.least(4, IndexIntent.attempts))) * ONE_SECOND
        claimed: IndexIntent | None = await self._session.scalar(
            update(IndexIntent)
            .where(IndexIntent.document_id.in_(due))
            .values(attempts=IndexIntent.attempts + 1, next_attempt_at=func.now() + wait)
            .returning(IndexIntent)
        )
        return claimed

    async def delete(self, intent_id: UUID) -> None:
        """Delete the intent, because the index agrees with the row. An intent that replaced it stays."""
        await self._session.execute(delete(IndexIntent).where(IndexIntent.id == intent_id))

    async def delete_completed(self, document_ids: Sequence[UUID]) -> None:
        """Delete the intents to delete these documents: their points are gone, and none of their workers is alive."""
        gone = delete(IndexIntent).where(
            IndexIntent.document_id.in_(document_ids), IndexIntent.wanted == IntendedState.GONE
        )
        await self._session.execute(gone.execution_options(synchronize_session=False))

    async def count_open(self) -> tuple[int, float]:
        """Return the number of open intents and the age of the oldest in seconds."""
        age = func.coalesce(func.extract("epoch", func.now() - func.min(IndexIntent.created_at)), 0)
        row = (await self._session.execute(select(func.count(), age).select_from(IndexIntent))).one()
        return int(row[0]), float(row[1])


def _insert_statement(document: IndexedDocument, wanted: IntendedState, epoch: int) -> Insert:
    values: dict[str, Any] = {
        "id": new_id(),
        "document_id": document.document_id,
        "organization_id": document.organization_id,
        "kb_id": document.kb_id,
        "wanted": wanted,
        "epoch": epoch,
        "created_at": func.now(),
        "attempts": 0,
        "next_attempt_at": func.now() + GRACE_PERIOD,
    }
    return insert(IndexIntent).values(values)
