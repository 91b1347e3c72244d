"""Principals of a transaction, and the actor recorded in the audit trail.

Row level security reads the principal, so that a query without a WHERE clause still returns no foreign rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True)
class Principal:
    """A signed-in user, or a program with a user's token."""

    user_id: UUID
    organization_id: UUID
    is_admin: bool = False
    is_operator: bool = False
    address: str | None = None
    """Network address of the request, for the audit trail."""

    @property
    def actor(self) -> str:
        """Name of this principal in the audit trail."""
        return str(self.user_id)

    @property
    def database_settings(self) -> Mapping[str, str]:
        """Settings of the transaction that row level security reads."""
        return {"app.user_id": str(self.user_id), "app.organization_id": ""}


@dataclass(frozen=True)
class Anonymous:
    """A caller before sign-in: can call the lookups by session, token and email, and sees no row."""

    organization_id: None = None
    address: str | None = None
    actor: str = "anonymous"

    @property
    def database_settings(self) -> Mapping[str, str]:
        """Settings of the transaction that row level security reads."""
        return {"app.user_id": "", "app.organization_id": ""}


@dataclass(frozen=True)
class Service:
    """A worker or sweep that acts within one organization. Without one it can only list organizations."""

    organization_id: UUID | None = None
    address: str | None = None
    actor: str = "system"

    @property
    def database_settings(self) -> Mapping[str, str]:
        """Settings of the transaction that row level security reads."""
        return {"app.user_id": "", "app.organization_id": str(self.organization_id or "")}


Caller = Principal | Anonymous | Service


@dataclass(frozen=True)
class Actor:
    """Name and address that the audit trail records for a change."""

    name: str
    address: str | None = None
    """Network address of the request."""

    @classmethod
    def from_principal(cls, principal: Principal) -> "Actor":
        """Return the actor of a signed-in user."""
        return cls(principal.actor, principal.address)

    def as_service(self, organization_id: UUID) -> Service:
        """Return the service login that acts for this actor in one organization."""
        return Service(organization_id, address=self.address, actor=self.name)


SYSTEM = "system"
SYSTEM_ACTOR = Actor(SYSTEM)
"""The actor of a sweep."""
