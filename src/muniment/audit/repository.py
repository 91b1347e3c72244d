"""Queries of the audit log for users.

Row level security shows owners their knowledge bases, admins the organization.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Select, func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.audit.chain_check import ChainLink
from muniment.audit.tables import AuditEvent, AuditSeal


@dataclass(frozen=True)
class EventFilter:
    """Filter of events; fields that are not set match everything."""

    is_installation: bool = False
    """Whether to select events that belong to no organization, instead of those of the caller's organization."""
    action: str | None = None
    actor: str | None = None
    kb_id: UUID | None = None
    document_id: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None
    """End of the period, not included."""

    def apply(self, statement: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
        # Row level security shows both to an operator who is also an admin; the filter selects one of them.
        of_organization = AuditEvent.organization_id
        statement = statement.where(of_organization.is_(None) if self.is_installation else of_organization.is_not(None))
        for column, value in (
            (AuditEvent.action, self.action),
            (AuditEvent.actor, self.actor),
            (AuditEvent.kb_id, self.kb_id),
            (AuditEvent.document_id, self.document_id),
        ):
            if value is not None:
                statement = statement.where(column == value)
        if self.since is not None:
            statement = statement.where(AuditEvent.at >= self.since)
        return statement if self.until is None else statement.where(AuditEvent.at < self.until)


class TrailRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def list_(
        self, event_filter: EventFilter, *, offset: int, limit: int
    ) -> tuple[Sequence[tuple[AuditEvent, int]], int]:
        """Return events, newest first, each with its number in the chain (`None` until it is sealed), and the total."""
        total = await self._session.scalar(event_filter.apply(select(func.count()).select_from(AuditEvent)))
        page = select(AuditEvent, AuditSeal.seq).outerjoin(AuditSeal, AuditSeal.event_id == AuditEvent.id)
        ordered = event_filter.apply(page).order_by(AuditEvent.at.desc(), AuditEvent.id.desc())
        rows = await self._session.execute(ordered.offset(offset).limit(limit))
        return [(event, seq) for event, seq in rows], total or 0

    async def list_of_document(self, document_id: UUID, actions: Sequence[str], *, limit: int) -> Sequence[AuditEvent]:
        """Return the newest events of a document with one of these actions, oldest first."""
        newest = select(AuditEvent).where(AuditEvent.document_id == document_id, AuditEvent.action.in_(actions))
        newest = newest.order_by(AuditEvent.at.desc(), AuditEvent.id.desc()).limit(limit)
        return (await self._session.scalars(newest)).all()[::-1]

    async def may_read(self, chain: UUID) -> bool:
        return bool(await self._session.scalar(text("SELECT app_may_read_chain(:chain)"), {"chain": chain}))

    async def find_first_seq(self, chain: UUID, event_filter: EventFilter) -> int | None:
        """Return the smallest number among the matching events that the caller may see."""
        first = select(func.min(AuditSeal.seq)).join(AuditEvent, AuditEvent.id == AuditSeal.event_id)
        found: int | None = await self._session.scalar(event_filter.apply(first).where(AuditSeal.chain == chain))
        return found

    async def list_links(self, chain: UUID, *, after: int, limit: int) -> Sequence[ChainLink]:
        """Return links of all events of the chain, including those the caller may not see."""
        links = text("SELECT seq, event_hash, hash FROM audit_links(:chain, :after, :limit)")
        rows = await self._session.execute(links, {"chain": chain, "after": after, "limit": limit})
        return [ChainLink(*row) for row in rows]

    async def list_sealed(
        self, chain: UUID, event_filter: EventFilter, *, after: int, until: int
    ) -> Sequence[tuple[AuditSeal, AuditEvent]]:
        """Return matching events that the caller may see, after the number `after` up to `until`, in order."""
        sealed = select(AuditSeal, AuditEvent).join(AuditEvent, AuditEvent.id == AuditSeal.event_id)
        sealed = sealed.where(AuditSeal.chain == chain, AuditSeal.seq > after, AuditSeal.seq <= until)
        rows = await self._session.execute(event_filter.apply(sealed).order_by(AuditSeal.seq))
        return [(seal, event) for seal, event in rows]
