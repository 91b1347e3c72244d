"""The one place that writes `documents.status`."""

from typing import Any, cast
from uuid import UUID

from sqlalchemy import Table, case, func, update
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.documents.tables import Document
from muniment.lifecycle.rules import RULES, Move

# The bare table: what the mapper adds to an UPDATE costs more than the statement.
DOCUMENTS = cast("Table", Document.__table__)


async def carry_out(session: AsyncSession, move: Move, document_id: UUID, epoch: int, /, **columns: Any) -> bool:
    """Move the document and set `columns` with it. `False`: somebody else was first, and nothing was changed."""
    targets, now = RULES[move].targets, DOCUMENTS.c
    moved = await session.scalar(
        update(DOCUMENTS)
        .where(now.id == document_id, now.epoch == epoch, now.status.in_(list(targets)))
        .values(status=case(dict(targets), value=now.status), updated_at=func.now(), **columns)
        .returning(now.id)
    )
    return moved is not None
