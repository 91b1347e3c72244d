"""Manage organizations and their users, as operators and admins do."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from muniment.accounts.credentials import clean_email, email_key
from muniment.accounts.repository import OrganizationRepository, SessionRepository, TokenRepository, UserRepository
from muniment.accounts.tables import Organization, User
from muniment.audit.events import OrganizationCreated, OrganizationRenamed, PasswordChanged, UserChanged, UserCreated
from muniment.audit.log import AuditLog
from muniment.errors import Forbidden, Refused
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work


class CannotReduceOwnRights(Refused):
    """You cannot remove roles or access from your own account"""

    code = "OwnRights"


class OwnPasswordNeedsCurrent(Refused):
    """To change your own password, enter the current one"""

    code = "OwnPassword"


@dataclass(frozen=True)
class NewUser:
    email: str
    password_hash: str
    organization_id: UUID | None
    is_admin: bool
    is_operator: bool


def require_operator(principal: Principal) -> None:
    if not principal.is_operator:
        raise Forbidden


def require_manager(principal: Principal) -> None:
    if not (principal.is_operator or principal.is_admin):
        raise Forbidden


async def create_organization(work: Work[Principal], name: str) -> Organization:
    require_operator(work.caller)
    organization = await OrganizationRepository(work.session).add(name)
    await AuditLog(work).record(OrganizationCreated(organization.id, name), organization_id=organization.id)
    return organization


async def rename_organization(work: Work[Principal], organization_id: UUID, name: str) -> Organization:
    require_operator(work.caller)
    organization = await OrganizationRepository(work.session).get(organization_id)
    if organization.name == name:
        return organization
    before, organization.name = organization.name, name
    await work.session.flush()
    await AuditLog(work).record(OrganizationRenamed(organization_id, before, name), organization_id=organization_id)
    return organization


async def create_user(work: Work[Principal], new: NewUser) -> User:
    """Create a user. Admins create users of their organization; operators of any, and other operators."""
    require_manager(work.caller)
    if new.is_operator:
        require_operator(work.caller)
    organization = await OrganizationRepository(work.session).get(new.organization_id or work.caller.organization_id)
    user = User(
        organization_id=organization.id,
        email=clean_email(new.email),
        email_key=email_key(new.email),
        is_admin=new.is_admin,
        is_operator=new.is_operator,
    )
    added = await UserRepository(work.session).add(user, new.password_hash)
    await AuditLog(work).record(
        UserCreated(added.id, added.email, added.is_admin, added.is_operator), organization_id=organization.id
    )
    return added


async def change_user(
    work: Work[Principal],
    user_id: UUID,
    changes: dict[str, Any],
    *,
    password_hash: str | None,
    revoke_tokens: bool = True,
) -> User:
    """Change roles, email, access or password.

    A user who loses access or gets a new password is signed out everywhere, and their API tokens are revoked. With a
    new password, the tokens can be kept.
    """
    require_manager(work.caller)
    users = UserRepository(work.session)
    user = await users.get(user_id)
    _require_allowed(work.caller, user, changes)
    await users.lock_credentials(user_id)
    if password_hash and user_id == work.caller.user_id:
        raise OwnPasswordNeedsCurrent
    if "email" in changes:
        changes = {**changes, "email": clean_email(changes["email"]), "email_key": email_key(changes["email"])}
    changes = {name: value for name, value in changes.items() if value != getattr(user, name)}
    before = {name: getattr(user, name) for name in changes if name != "email_key"}
    secret = {"password_hash": password_hash} if password_hash else {}
    if changes or secret:
        await users.change(user_id, {**changes, **secret})
    is_deactivated = changes.get("is_active") is False
    if secret or is_deactivated:
        # Someone else may know the credentials of a user who is locked out, so everything issued before becomes
        # invalid.
        await SessionRepository(work.session).end_all(user_id)
        if revoke_tokens or is_deactivated:
            await TokenRepository(work.session).revoke_all(user_id)
    log = AuditLog(work)
    if changes:
        after = {name: changes[name] for name in before}
        await log.record(UserChanged(user_id, before, after), organization_id=user.organization_id)
    if secret:
        await log.record(PasswordChanged(user_id), organization_id=user.organization_id)
    await work.session.refresh(user)
    return user


def _require_allowed(caller: Principal, user: User, changes: dict[str, Any]) -> None:
    if not caller.is_operator and (user.is_operator or changes.get("is_operator")):
        raise Forbidden
    if user.id == caller.user_id and changes.get("is_admin") and not user.is_admin:
        # the role of an operator shows no documents, and operators must not grant themselves other roles
        raise Forbidden
    reduces = any(changes.get(right) is False for right in ("is_admin", "is_operator", "is_active"))
    if user.id == caller.user_id and reduces:
        raise CannotReduceOwnRights
