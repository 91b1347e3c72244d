"""On whose word the service acts, as the audit trail says it."""

from dataclasses import dataclass
from uuid import UUID

from muniment.audit.log import SYSTEM
from muniment.storage.db.principal import Principal, Service


@dataclass(frozen=True)
class Asker:
    actor: str
    address: str | None = None
    """Where the request came from."""

    @classmethod
    def of(cls, principal: Principal) -> "Asker":
        return cls(principal.actor, principal.address)

    def within(self, organization_id: UUID) -> Service:
        """The service, acting for them in one organization."""
        return Service(organization_id, address=self.address, actor=self.actor)


NOBODY = Asker(SYSTEM)
"""A sweep."""
