from typing import Any
from uuid import UUID

from sqlalchemy import insert

from muniment.audit.events import Event
from muniment.audit.tables import AuditEvent
from muniment.storage.db.base import new_id
from muniment.storage.db.work import Work

_INSERT = insert(AuditEvent)


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
        await self._work.session.execute(_INSERT, columns)
        event_id: UUID = columns["id"]
        return event_id
