from typing import Any, cast
from uuid import UUID

from sqlalchemy import Table, insert

from muniment.audit.events import Event
from muniment.audit.tables import AuditEvent
from muniment.storage.db.base import new_id
from muniment.storage.db.work import Work

# The bare table: what the mapper adds to an INSERT costs more than the statement.
_INSERT = insert(cast("Table", AuditEvent.__table__))


def event_row(event: Event, *, actor: str, organization_id: UUID | None, address: str | None = None) -> dict[str, Any]:
    """Return the columns of one event."""
    return {
        "id": new_id(),
        "action": event.action,
        "actor": actor,
        "organization_id": organization_id,
        "kb_id": event.kb_id,
        "document_id": event.document_id,
        "address": address,
        "payload": event.payload,
    }


class AuditLog:
    """Records events in the transaction of the change: neither is stored without the other."""

    def __init__(self, work: Work[Any]) -> None:
        self._work = work

    async def record(self, event: Event, *, actor: str | None = None, organization_id: UUID | None = None) -> UUID:
        """Record an event of the caller, or of the given actor and organization. Return the id of the event."""
        caller = self._work.caller
        columns = event_row(
            event,
            actor=actor or caller.actor,
            organization_id=organization_id or caller.organization_id,
            address=caller.address,
        )
        # Without RETURNING, because a principal that may write an event need not be allowed to read it.
        columns["knowledge_base_id"] = columns.pop("kb_id")
        await self._work.session.execute(_INSERT, columns)
        event_id: UUID = columns["id"]
        return event_id
