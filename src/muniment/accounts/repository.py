"""Every query of accounts, including rate limits and expiry.

Queries before a principal exists use definer functions.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import Row, TextClause, delete, func, insert, select, text, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession

from muniment.accounts.credentials import email_key
from muniment.accounts.tables import ApiToken, Organization, SignInLink, SignInSession, User
from muniment.errors import Conflict, NotFound
from muniment.storage.db.base import new_id
from muniment.storage.db.principal import Principal, Service
from muniment.storage.db.work import Database, list_organizations


class OrganizationNotFound(NotFound):
    """Organization not found"""


class UserNotFound(NotFound):
    """User not found"""


class TokenNotFound(NotFound):
    """Token not found"""


class EmailTaken(Conflict):
    """A user with this email already exists"""


@dataclass(frozen=True)
class Login:
    principal: Principal
    organization_name: str
    password_hash: str | None


_FIND_SESSION = text("SELECT * FROM find_session(:key)")


_FIND_TOKEN = text("SELECT * FROM find_token(:key)")


_REDEEM_LINK = text("SELECT * FROM redeem_sign_in_link(:key)")


class SignInRepository:
    """Look up the user behind a session, a token, an email or a link."""

    def __init__(self, session: AsyncSession | AsyncConnection, address: str | None = None) -> None:
        self._session = session
        self._address = address

    async def find_by_session(self, token_hash: bytes) -> Principal | None:
        return await self._find(_FIND_SESSION, token_hash)

    async def find_by_token(self, token_hash: bytes) -> Principal | None:
        return await self._find(_FIND_TOKEN, token_hash)

    async def redeem_link(self, token_hash: bytes) -> Principal | None:
        return await self._find(_REDEEM_LINK, token_hash)

    async def find_logins(self, key: str) -> Sequence[Login]:
        """Return the active accounts with this email: at most one in each organization."""
        rows = await self._session.execute(text("SELECT * FROM find_logins(:key)"), {"key": key})
        return [Login(self._principal(row), row.organization_name, row.password_hash) for row in rows]

    async def wait_seconds(self, keys: Sequence[str]) -> int:
        seconds = await self._session.scalar(text("SELECT sign_in_wait_seconds(:keys)"), {"keys": list(keys)})
        return int(seconds or 0)

    async def record_failure(self, key: str, *, allowed: int, reset_after: timedelta) -> None:
        await self._session.execute(
            text("SELECT note_sign_in_failure(:key, :free, :forgiven_after)"),
            {"key": key, "free": allowed, "forgiven_after": reset_after},
        )

    async def reset_failures(self, key: str) -> None:
        await self._session.execute(text("SELECT forget_sign_in_failures(:key)"), {"key": key})

    async def _find(self, statement: TextClause, key: bytes) -> Principal | None:
        row = (await self._session.execute(statement, {"key": key})).one_or_none()
        return self._principal(row) if row else None

    def _principal(self, row: Row[tuple[object, ...]]) -> Principal:
        return Principal(
            row.user_id, row.organization_id, is_admin=row.is_admin, is_operator=row.is_operator, address=self._address
        )


class SessionRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(self, principal: Principal, token_hash: bytes, *, expires_at: datetime) -> None:
        self._session.add(
            SignInSession(
                user_id=principal.user_id,
                organization_id=principal.organization_id,
                token_hash=token_hash,
                address=principal.address,
                expires_at=expires_at,
            )
        )
        await self._session.flush()

    async def end(self, token_hash: bytes) -> bool:
        """End a session. Return False if the caller has no such session."""
        ended = delete(SignInSession).where(SignInSession.token_hash == token_hash).returning(SignInSession.id)
        return await self._session.scalar(ended) is not None

    async def end_all(self, user_id: UUID, *, except_hash: bytes | None = None) -> None:
        await self._session.execute(text("SELECT end_sessions(:user, :but)"), {"user": user_id, "but": except_hash})


class TokenRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(self, principal: Principal, name: str, token_hash: bytes, *, expires_at: datetime) -> ApiToken:
        token = ApiToken(
            user_id=principal.user_id,
            organization_id=principal.organization_id,
            name=name,
            token_hash=token_hash,
            expires_at=expires_at,
        )
        self._session.add(token)
        await self._session.flush()
        return token

    async def list_(self, *, offset: int, limit: int) -> tuple[Sequence[ApiToken], int]:
        alive = select(ApiToken).where(ApiToken.revoked_at.is_(None))
        total = await self._session.scalar(select(func.count()).select_from(alive.subquery()))
        page = await self._session.scalars(alive.order_by(ApiToken.id).offset(offset).limit(limit))
        return page.all(), total or 0

    async def revoke_all(self, user_id: UUID) -> None:
        """Revoke all tokens of a user whom the caller manages."""
        await self._session.execute(text("SELECT revoke_tokens(:user)"), {"user": user_id})

    async def revoke_own(self) -> Sequence[ApiToken]:
        """Revoke all tokens of the caller and return them."""
        revoked = await self._session.scalars(
            update(ApiToken).where(ApiToken.revoked_at.is_(None)).values(revoked_at=func.now()).returning(ApiToken)
        )
        return revoked.all()

    async def revoke(self, token_id: UUID) -> ApiToken:
        revoked: ApiToken | None = await self._session.scalar(
            update(ApiToken)
            .where(ApiToken.id == token_id, ApiToken.revoked_at.is_(None))
            .values(revoked_at=func.now())
            .returning(ApiToken)
        )
        if revoked is None:
            raise TokenNotFound
        return revoked


class OrganizationRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(self, name: str) -> Organization:
        organization = Organization(name=name)
        self._session.add(organization)
        await self._session.flush()
        await self._session.refresh(organization)
        return organization

    async def get(self, organization_id: UUID) -> Organization:
        found = await self._session.get(Organization, organization_id)
        if found is None:
            raise OrganizationNotFound
        return found

    async def list_(self, *, offset: int, limit: int) -> tuple[Sequence[Organization], int]:
        total = await self._session.scalar(select(func.count()).select_from(Organization))
        page = await self._session.scalars(
            select(Organization).order_by(Organization.name, Organization.id).offset(offset).limit(limit)
        )
        return page.all(), total or 0


# Creating a session or a token takes this lock in shared mode, ending all of them in exclusive mode. Otherwise one that
# is being created while a password is changed would outlive the change.
LOCK_CREDENTIALS = text("SELECT pg_advisory_xact_lock(hashtextextended('credentials ' || :user, 0))")
_HOLD_CREDENTIALS = text("SELECT pg_advisory_xact_lock_shared(hashtextextended('credentials ' || :user, 0))")


class UserRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(self, user: User, password_hash: str) -> User:
        # Core instead of ORM, because this login may write the column but not read it back.
        values = {
            "id": new_id(),
            "organization_id": user.organization_id,
            "email": user.email,
            "email_key": user.email_key,
            "is_admin": user.is_admin,
            "is_operator": user.is_operator,
            "password_hash": password_hash,
        }
        try:
            async with self._session.begin_nested():
                await self._session.execute(insert(User.__table__).values(**values))  # type: ignore[arg-type]  # a Table
        except IntegrityError:
            raise EmailTaken from None
        return await self.get(values["id"])

    async def get(self, user_id: object) -> User:
        found = await self._session.get(User, user_id)
        if found is None:
            raise UserNotFound
        return found

    async def find_active(self, organization_id: UUID, email: str) -> User | None:
        """Return an active user of the organization by exact email; the caller must know the whole address."""
        key = email_key(email)
        query = select(User).where(User.organization_id == organization_id, User.email_key == key, User.is_active)
        found: User | None = await self._session.scalar(query)
        return found

    async def emails_of(self, user_ids: Collection[UUID]) -> dict[UUID, str]:
        rows = await self._session.execute(select(User.id, User.email).where(User.id.in_(user_ids)))
        return {row.id: row.email for row in rows}

    async def list_(
        self, *, organization_id: UUID | None, search: str, offset: int, limit: int
    ) -> tuple[Sequence[User], int]:
        query = select(User)
        if organization_id:
            query = query.where(User.organization_id == organization_id)
        if search:
            query = query.where(User.email_key.contains(email_key(search), autoescape=True))
        # Counts ids, because counting whole rows would read a column that this login may not read.
        total = await self._session.scalar(
            select(func.count()).select_from(query.with_only_columns(User.id).subquery())
        )
        page = await self._session.scalars(query.order_by(User.email_key, User.id).offset(offset).limit(limit))
        return page.all(), total or 0

    async def has_own_password(self) -> bool:
        return bool(await self._session.scalar(text("SELECT app_has_password()")))

    async def lock_credentials(self, user_id: UUID) -> None:
        """Wait for sessions and tokens of the user that are being created, and hold off others until the commit."""
        await self._session.execute(LOCK_CREDENTIALS, {"user": str(user_id)})

    async def hold_credentials(self, user_id: UUID) -> None:
        """Hold off a new password of the user until the commit. What is checked from now on stays true until then."""
        await self._session.execute(_HOLD_CREDENTIALS, {"user": str(user_id)})

    async def set_own_password(self, password_hash: str) -> None:
        await self._session.execute(text("SELECT set_own_password(:hash)"), {"hash": password_hash})

    async def change(self, user_id: UUID, values: dict[str, object]) -> None:
        try:
            async with self._session.begin_nested():
                await self._session.execute(update(User).where(User.id == user_id).values(**values))
        except IntegrityError:
            raise EmailTaken from None


class RateLimitRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def acquire(self, operation: str, *, limit: int, window: timedelta) -> int:
        """Record the request if there were fewer than `limit` in the window. Return the seconds to wait, or 0."""
        statement = text("SELECT admit_request(:operation, :most, :within)")
        wait = await self._session.scalar(statement, {"operation": operation, "most": limit, "within": window})
        return int(wait or 0)


async def delete_expired(database: Database) -> None:
    """Delete expired sessions, links and old failures. Tokens stay listed until they are revoked."""
    for organization_id in await list_organizations(database):
        async with database.service_work(Service(organization_id)) as work:
            await work.session.execute(delete(SignInSession).where(SignInSession.expires_at < func.now()))
            await work.session.execute(delete(SignInLink).where(SignInLink.expires_at < func.now()))
    async with database.service_work(Service()) as work:
        await work.session.execute(text("SELECT forget_old_sign_in_failures()"))
