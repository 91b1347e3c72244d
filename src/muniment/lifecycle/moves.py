"""The one place that writes `documents.status`."""

from typing import Any, cast
from uuid import UUID

from sqlalchemy import Table, case, func, update
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.documents.tables import Document, Status
from muniment.lifecycle.rules import RULES, Move

# The bare table: what the mapper adds to an UPDATE costs more than the statement.
DOCUMENTS = cast("Table", Document.__table__)


async def carry_out(
    session: AsyncSession, move: Move, document_id: UUID, epoch: int, to: Status | None = None, /, **columns: Any
) -> bool:
    """Move the document and set `columns` with it. `False`: somebody else was first, and nothing was changed.

    `to` where the move leads back to where the document came from.
    """
    targets, now = RULES[move].targets, DOCUMENTS.c
    reached = case(dict(targets), value=now.status) if to is None else to
    moved = await session.scalar(
        update(DOCUMENTS)
        .where(now.id == document_id, now.epoch == epoch, now.status.in_(list(targets)))
        .values(status=reached, updated_at=func.now(), **columns)
        .returning(now.id)
    )
    return moved is not None
