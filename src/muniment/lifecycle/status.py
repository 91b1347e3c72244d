"""The only writer of `documents.status`."""

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
    """Move the document and set `columns` with it. `False`: somebody else was first, and nothing was changed.

    `to` where the move leads back to where the document came from.
    """
    return (
        await session.scalar(_status_update(move, document_id, epoch, to, columns).returning(DOCUMENTS.c.id))
        is not None
    )


async def change_status_of(session: AsyncSession, move: Move, document: Document, /, **columns: Any) -> None:
    """The same for a document that is locked: what is in memory tells afterwards what is in the row."""
    moving = _status_update(move, document.id, document.epoch, None, columns)
    row = (await session.execute(moving.returning(*DOCUMENTS.c))).one()
    for attribute, value in zip(_ATTRIBUTES, row, strict=True):
        set_committed_value(document, attribute, value)


def _status_update(move: Move, document_id: UUID, epoch: int, to: Status | None, columns: Mapping[str, Any]) -> Update:
    targets, now = RULES[move].targets, DOCUMENTS.c
    reached = case(dict(targets), value=now.status) if to is None else to
    return (
        update(DOCUMENTS)
        .where(now.id == document_id, now.epoch == epoch, now.status.in_(list(targets)))
        .values(status=reached, updated_at=func.now(), **columns)
    )
