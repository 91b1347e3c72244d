"""The only code that writes `documents.status` and `documents.epoch` of an existing document."""

from collections.abc import Mapping
from typing import Any, cast
from uuid import UUID

from sqlalchemy import Table, Update, case, func, inspect, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm.attributes import set_committed_value

from muniment.documents.tables import Document, Status
from muniment.lifecycle.rules import RULES, Move

# The bare table: what the mapper adds to an UPDATE costs more than the statement.
DOCUMENTS = cast("Table", Document.__table__)
_ATTRIBUTES = [inspect(Document).get_property_by_column(column).key for column in DOCUMENTS.c]


async def change_status(
    session: AsyncSession, move: Move, document_id: UUID, epoch: int, to: Status | None = None, /, **columns: Any
) -> bool:
    """Move the document and set `columns` with it. Return False if someone else changed it first.

    `to` is given where the target depends on the document's past: a revert leads to the status before the replace.
    """
    statement = _status_update(move, document_id, epoch, to, columns).returning(DOCUMENTS.c.id)
    return await session.scalar(statement) is not None


async def change_status_of(session: AsyncSession, move: Move, document: Document, /, **columns: Any) -> None:
    """Move a document that the caller has locked, and update the object in memory from the row."""
    statement = _status_update(move, document.id, document.epoch, None, columns)
    row = (await session.execute(statement.returning(*DOCUMENTS.c))).one()
    for attribute, value in zip(_ATTRIBUTES, row, strict=True):
        set_committed_value(document, attribute, value)


async def set_epoch(session: AsyncSession, document_id: UUID, epoch: int) -> None:
    """Raise the epoch of a locked document without a move, so that a worker of an older epoch is fenced off."""
    statement = update(DOCUMENTS).where(DOCUMENTS.c.id == document_id)
    await session.execute(statement.values(epoch=epoch, updated_at=func.now()))


def _status_update(move: Move, document_id: UUID, epoch: int, to: Status | None, columns: Mapping[str, Any]) -> Update:
    targets, document = RULES[move].targets, DOCUMENTS.c
    status = case(dict(targets), value=document.status) if to is None else to
    return (
        update(DOCUMENTS)
        .where(document.id == document_id, document.epoch == epoch, document.status.in_(list(targets)))
        .values(status=status, updated_at=func.now(), **columns)
    )
