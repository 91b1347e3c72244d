"""What is known of a document, from all that has a say in where it stands."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.audit.tables import AuditEvent
from muniment.documents.repository import DocumentRepository
from muniment.documents.tables import ACTIVE, Document
from muniment.knowledge_bases.access import MANAGES, Access, Standing
from muniment.lifecycle.replacing.shelf import find_shelf
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work

EVENTS = 50
# By name and not through the table: processing lies above this feature.
_OPEN_RUN = text("""
    SELECT run_id, purpose, status, attempt, last_step, created_at FROM document_processing_runs
     WHERE document_id = :document_id AND epoch = :epoch AND status IN ('queued', 'in_progress')
""")
_INTENDS = text("SELECT EXISTS (SELECT FROM index_intents WHERE document_id = :document_id)")


@dataclass(frozen=True)
class OpenRun:
    id: UUID
    purpose: str
    status: str
    attempt: int
    last_step: str | None
    created_at: datetime


@dataclass(frozen=True)
class Facts:
    document: Document
    standing: Standing
    """Of the one who asks."""
    namesake: Document | None
    """Another one that is active under its name."""
    can_be_reverted: bool
    run: OpenRun | None
    events: Sequence[AuditEvent] | None
    """Newest first; none where the one who asks may not read the trail."""
    is_being_put_back: bool = False
    """Nobody knows what the search index holds of it, until the sweep has told it."""


class ExplainRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def find_open_run(self, document_id: UUID, epoch: int) -> OpenRun | None:
        row = (await self._session.execute(_OPEN_RUN, {"document_id": document_id, "epoch": epoch})).one_or_none()
        return OpenRun(*row) if row else None

    async def list_events(self, document_id: UUID) -> Sequence[AuditEvent]:
        of_document = select(AuditEvent).where(AuditEvent.document_id == document_id)
        return (await self._session.scalars(of_document.order_by(AuditEvent.id.desc()).limit(EVENTS))).all()

    async def is_being_put_back(self, document_id: UUID) -> bool:
        """Asked by the service: who may only look at a document does not see its intents."""
        return bool(await self._session.scalar(_INTENDS, {"document_id": document_id}))


async def gather(work: Work[Principal], access: Access, document: Document) -> Facts:
    """All that the one who asks may know."""
    explaining = ExplainRepository(work.session)
    return Facts(
        document=document,
        standing=access.standing,
        namesake=await _find_namesake(work, document),
        can_be_reverted=await find_shelf(work.session, document) is not None,
        run=await explaining.find_open_run(document.id, document.epoch),
        events=await explaining.list_events(document.id) if access.standing in MANAGES else None,
    )


async def _find_namesake(work: Work[Principal], document: Document) -> Document | None:
    if document.status in ACTIVE:
        return None  # it has the name itself
    return await DocumentRepository(work.session).find_active(document.kb_id, document.name_key)
