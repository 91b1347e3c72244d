"""Principals of a transaction, and the actor recorded in the audit trail.

Row level security reads the principal, so that a query without a WHERE clause still returns no foreign rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True)
class Principal:
    """A person or a program with a person's token, signed in."""

    user_id: UUID
    organization_id: UUID
    is_admin: bool = False
    is_operator: bool = False
    address: str | None = None
    """Where the request came from, for the audit trail."""

    @property
    def actor(self) -> str:
        return str(self.user_id)

    @property
    def database_settings(self) -> Mapping[str, str]:
        return {"app.user_id": str(self.user_id), "app.organization_id": ""}


@dataclass(frozen=True)
class Anonymous:
    """Before sign-in: may call the look-ups by session, token and email, and sees no row."""

    organization_id: None = None
    address: str | None = None
    actor: str = "anonymous"

    @property
    def database_settings(self) -> Mapping[str, str]:
        return {"app.user_id": "", "app.organization_id": ""}


@dataclass(frozen=True)
class Service:
    """A worker or a sweep, acting within one organization; without one it can only list organizations."""

    organization_id: UUID | None = None
    address: str | None = None
    actor: str = "system"

    @property
    def database_settings(self) -> Mapping[str, str]:
        return {"app.user_id": "", "app.organization_id": str(self.organization_id or "")}


Caller = Principal | Anonymous | Service


@dataclass(frozen=True)
class Actor:
    name: str
    address: str | None = None
    """Where the request came from."""

    @classmethod
    def from_principal(cls, principal: Principal) -> "Actor":
        return cls(principal.actor, principal.address)

    def as_service(self, organization_id: UUID) -> Service:
        """The service, acting for them in one organization."""
        return Service(organization_id, address=self.address, actor=self.name)


SYSTEM = "system"


SYSTEM_ACTOR = Actor(SYSTEM)
"""A sweep."""
