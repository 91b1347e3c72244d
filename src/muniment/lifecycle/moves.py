"""The one place that writes `documents.status`."""

from typing import Any
from uuid import UUID

from sqlalchemy import case, update
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.documents.tables import Document
from muniment.lifecycle.rules import RULES, Move


async def carry_out(session: AsyncSession, move: Move, document_id: UUID, epoch: int, /, **columns: Any) -> bool:
    """Move the document and set `columns` with it. `False`: somebody else was first, and nothing was changed."""
    targets = RULES[move].targets
    moved = await session.scalar(
        update(Document)
        .where(Document.id == document_id, Document.epoch == epoch, Document.status.in_(list(targets)))
        .values(status=case(dict(targets), value=Document.status), **columns)
        .returning(Document.id)
        .execution_options(synchronize_session=False)
    )
    return moved is not None
