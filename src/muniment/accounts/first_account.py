"""Create the first account of an installation, and reset a password from the command line."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Row, delete, exists, func, insert, select, update

from muniment.accounts.credentials import Passwords, clean_email, digest, email_key, new_secret
from muniment.accounts.repository import LOCK_CREDENTIALS
from muniment.accounts.tables import ApiToken, Organization, SignInLink, SignInSession, User
from muniment.audit.events import (
    Event,
    OrganizationCreated,
    PasswordChanged,
    SignInLinkCreated,
    TokenRevoked,
    UserChanged,
    UserCreated,
)
from muniment.audit.log import event_row
from muniment.audit.tables import AuditEvent
from muniment.errors import Conflict, NotFound
from muniment.storage.db.base import new_id
from muniment.storage.db.principal import SYSTEM

DEFAULT_EMAIL = "admin@localhost"
DEFAULT_ORGANIZATION = "My organization"
LINK_LIFETIME = timedelta(hours=24)


@dataclass(frozen=True)
class FirstAccount:
    """How the first user signs in."""

    email: str
    link_secret: str | None
    """Secret of a new one-time link, set while the account has no password."""


def ensure_first_account(
    connection: Connection, *, email: str | None, password: str | None, now: datetime
) -> FirstAccount | None:
    """Create the account if there are no accounts.

    While it is the only one and has no password, it gets the given password, or a new link each time. Returns `None`
    once there are other accounts or a password. Runs as the database owner in the caller's transaction.
    """
    users = User.__table__
    if not connection.scalar(select(exists().select_from(users))):
        _create(connection, clean_email(email or DEFAULT_EMAIL), password)
    accounts = connection.execute(
        select(users.c.id, users.c.organization_id, users.c.email, users.c.password_hash).limit(2)
    ).all()
    if len(accounts) > 1:
        return None
    only = accounts[0]
    if password and not only.password_hash:
        # It was created by an earlier start, before the settings had a password.
        return FirstAccount(_set_first_password(connection, only, clean_email(email or only.email), password), None)
    if only.password_hash:
        return FirstAccount(only.email, None)
    return FirstAccount(only.email, _new_link(connection, only.id, only.organization_id, now=now))


def _set_first_password(connection: Connection, user: Row[Any, Any, Any, Any], email: str, password: str) -> str:
    values = {"email": email, "email_key": email_key(email), "password_hash": Passwords().hash_sync(password)}
    connection.execute(update(User).where(User.id == user.id).values(**values))
    connection.execute(delete(SignInLink).where(SignInLink.user_id == user.id))
    if email != user.email:
        _record(connection, UserChanged(user.id, {"email": user.email}, {"email": email}), user.organization_id)
    _record(connection, PasswordChanged(user.id), user.organization_id)
    return email


def _record(connection: Connection, event: Event, organization_id: UUID) -> None:
    connection.execute(insert(AuditEvent).values(event_row(event, actor=SYSTEM, organization_id=organization_id)))


def _create(connection: Connection, email: str, password: str | None) -> None:
    organization_id, user_id = new_id(), new_id()
    connection.execute(
        insert(Organization).values(id=organization_id, name=DEFAULT_ORGANIZATION, created_at=func.now())
    )
    connection.execute(
        insert(User).values(
            id=user_id,
            organization_id=organization_id,
            email=email,
            email_key=email_key(email),
            password_hash=Passwords().hash_sync(password) if password else None,
            is_admin=True,
            is_operator=True,
        )
    )
    _record(connection, OrganizationCreated(organization_id, DEFAULT_ORGANIZATION), organization_id)
    _record(connection, UserCreated(user_id, email, is_admin=True, is_operator=True), organization_id)


def _new_link(connection: Connection, user_id: UUID, organization_id: UUID, *, now: datetime) -> str:
    secret = new_secret()
    connection.execute(delete(SignInLink).where(SignInLink.user_id == user_id))  # only one link is valid at a time
    connection.execute(
        insert(SignInLink).values(
            token_hash=digest(secret),
            user_id=user_id,
            organization_id=organization_id,
            expires_at=now + LINK_LIFETIME,
        )
    )
    _record(connection, SignInLinkCreated(user_id, (now + LINK_LIFETIME).isoformat()), organization_id)
    return secret


class AccountNotFound(NotFound):
    """No user has this email"""


class SeveralAccounts(Conflict):
    """Several organizations have a user with this email"""

    def __init__(self, accounts: Iterable[Row[Any]]) -> None:
        organizations = "".join(f"\n  {each.organization_id}  {each.organization_name}" for each in accounts)
        super().__init__(f"{self.__doc__}. Choose one with --organization:{organizations}")


@dataclass(frozen=True)
class PasswordReset:
    """What resetting a password did, and the secret of the new one-time link."""

    email: str
    organization_name: str
    link_secret: str
    is_active: bool
    """Whether the account may sign in. A reset does not change that: the link of a deactivated account is refused."""
    revoked_tokens: int


def reset_password(
    connection: Connection, email: str, *, organization: str | None, revoke_tokens: bool, now: datetime
) -> PasswordReset:
    """Remove the password, all sessions and, if asked, all API tokens of an account, and create a sign-in link.

    If several organizations have a user with this email, `organization` chooses one by its id or exact name; without
    it, raise `SeveralAccounts`. Runs as the database owner.
    """
    found = _get_account(connection, email, organization)
    connection.execute(LOCK_CREDENTIALS, {"user": str(found.id)})
    connection.execute(update(User).where(User.id == found.id).values(password_hash=None))
    connection.execute(delete(SignInSession).where(SignInSession.user_id == found.id))
    revoked = _revoke_tokens(connection, found.id, found.organization_id) if revoke_tokens else 0
    before, after = {"has_password": found.has_password}, {"has_password": False}
    _record(connection, UserChanged(found.id, before, after), found.organization_id)
    _record(connection, PasswordChanged(found.id), found.organization_id)
    secret = _new_link(connection, found.id, found.organization_id, now=now)
    return PasswordReset(found.email, found.organization_name, secret, found.is_active, revoked)


def _get_account(connection: Connection, email: str, organization: str | None) -> Row[Any]:
    users, organizations = User.__table__, Organization.__table__
    accounts = connection.execute(
        select(
            users.c.id,
            users.c.organization_id,
            organizations.c.name.label("organization_name"),
            users.c.email,
            users.c.is_active,
            users.c.password_hash.is_not(None).label("has_password"),
        )
        .join_from(users, organizations)
        .where(users.c.email_key == email_key(email))
        .order_by(organizations.c.name, users.c.id)
    ).all()
    if organization is not None:
        accounts = [each for each in accounts if organization in (str(each.organization_id), each.organization_name)]
    if not accounts:
        raise AccountNotFound("No user of this organization has this email" if organization else None)
    if len(accounts) > 1:
        raise SeveralAccounts(accounts)
    return accounts[0]


def _revoke_tokens(connection: Connection, user_id: UUID, organization_id: UUID) -> int:
    revoked = connection.execute(
        update(ApiToken)
        .where(ApiToken.user_id == user_id, ApiToken.revoked_at.is_(None))
        .values(revoked_at=func.now())
        .returning(ApiToken.id, ApiToken.name)
    ).all()
    for token in revoked:
        _record(connection, TokenRevoked(token.id, token.name), organization_id)
    return len(revoked)
