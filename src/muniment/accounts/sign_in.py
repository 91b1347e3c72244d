"""Sign users in and out, and manage their API tokens.

Failed attempts are throttled by account and by network address.
"""

import asyncio
import hashlib
import ipaddress
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from muniment.accounts.credentials import Passwords, digest, email_key, new_api_token, new_secret
from muniment.accounts.repository import Login, SessionRepository, SignInRepository, TokenRepository, UserRepository
from muniment.accounts.tables import ApiToken, User
from muniment.audit.events import PasswordChanged, SignedIn, SignedOut, TokenCreated, TokenRevoked
from muniment.audit.log import AuditLog
from muniment.errors import Forbidden, Invalid, NotSignedIn, TooManyRequests
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Database, Work
from muniment.telemetry.metrics import SIGNINS

ALLOWED_PER_ACCOUNT, ACCOUNT_RESET_AFTER = 5, timedelta(minutes=10)


ALLOWED_PER_ADDRESS, ADDRESS_RESET_AFTER = 50, timedelta(minutes=1)


class WrongCredentials(NotSignedIn):
    """Incorrect email or password"""


class WrongPassword(Forbidden):
    """The current password is incorrect"""


class LinkInvalid(NotSignedIn):
    """This sign-in link has expired or was already used. Restart Muniment to get a new one"""

    code = "LinkSpent"


class TooManyFailures(TooManyRequests):
    """Too many failed sign-in attempts. Try again later"""


@dataclass(frozen=True)
class OpenedSession:
    principal: Principal
    secret: str
    expires_at: datetime


class SignIn:
    """Opens sessions by password or link. No transaction is open while a password is hashed."""

    def __init__(self, database: Database, passwords: Passwords, *, lifetime: timedelta) -> None:
        self._database = database
        self._passwords = passwords
        self._lifetime = lifetime
        # One slot per concurrent hash. Each attempt is counted before the next one starts, so that only the first few
        # of a thousand simultaneous guesses are tried.
        self._login_slots = asyncio.Semaphore(2)

    async def with_password(self, email: str, password: str, *, address: str | None, now: datetime) -> OpenedSession:
        """Open a session or raise `WrongCredentials`.

        After several failures raise `TooManyFailures`, even if the password is right.
        """
        login = await self._check_login(email, password, address=address)
        if login is None:
            raise WrongCredentials
        async with self._database.work(login.principal) as work:
            await SignInRepository(work.session).reset_failures(_throttle_keys(email, address)[0])
            return await self._open_session(work, by="password", now=now)

    async def confirm_password(self, principal: Principal, password: str | None) -> None:
        """Raise `WrongPassword` unless this is the user's password; throttled like signing in.

        An account without a password has nothing to confirm.
        """
        async with self._database.work(principal) as work:
            user = await UserRepository(work.session).get(principal.user_id)
            if not await _has_password(work, user):
                return
        if not await self._check_login(user.email, password or "", address=principal.address):
            raise WrongPassword

    async def with_link(self, secret: str, *, address: str | None, now: datetime) -> OpenedSession:
        """Open a session with a one-time link, which becomes invalid."""
        async with self._database.anonymous_work(address) as work:
            principal = await SignInRepository(work.session, address).redeem_link(digest(secret))
        if principal is None:
            raise LinkInvalid
        async with self._database.work(principal) as user_work:
            # A link is for accounts without a password; an older link must not be valid once there is one.
            if await _has_password(user_work, await UserRepository(user_work.session).get(principal.user_id)):
                raise LinkInvalid
            return await self._open_session(user_work, by="link", now=now)

    async def _check_login(self, email: str, password: str, *, address: str | None) -> Login | None:
        """Return the account if the password is right; otherwise record the failure."""
        account_key, address_key = _throttle_keys(email, address)
        async with self._login_slots:
            async with self._database.anonymous_work(address) as work:
                sign_ins = SignInRepository(work.session, address)
                if wait := await sign_ins.wait_seconds([account_key, address_key]):
                    SIGNINS.labels("throttled").inc()
                    raise TooManyFailures(retry_after_seconds=wait)
                login = await sign_ins.find_login(email_key(email))
            if await self._passwords.verify(login.password_hash if login else None, password):
                return login
            await self._record_failure(account_key, address_key)
            return None

    async def _open_session(self, work: Work[Principal], *, by: str, now: datetime) -> OpenedSession:
        secret, expires_at = new_secret(), now + self._lifetime
        await SessionRepository(work.session).add(work.caller, digest(secret), expires_at=expires_at)
        await AuditLog(work).record(SignedIn(by))
        SIGNINS.labels("ok").inc()
        return OpenedSession(work.caller, secret, expires_at)

    async def _record_failure(self, account_key: str, address_key: str) -> None:
        SIGNINS.labels("wrong").inc()
        async with self._database.anonymous_work() as work:
            sign_ins = SignInRepository(work.session)
            await sign_ins.record_failure(account_key, allowed=ALLOWED_PER_ACCOUNT, reset_after=ACCOUNT_RESET_AFTER)
            await sign_ins.record_failure(address_key, allowed=ALLOWED_PER_ADDRESS, reset_after=ADDRESS_RESET_AFTER)


async def sign_out(work: Work[Principal], secret: str) -> None:
    if await SessionRepository(work.session).end(digest(secret)):
        await AuditLog(work).record(SignedOut())


async def _has_password(work: Work[Principal], user: User) -> bool:
    login = await SignInRepository(work.session).find_login(user.email_key)
    return login is not None and login.password_hash is not None


async def set_password(
    work: Work[Principal], password_hash: str, *, current_session: str | None, revoke_tokens: bool
) -> None:
    """Set the caller's new password, end all their other sessions and, if asked, revoke their API tokens."""
    await UserRepository(work.session).set_own_password(password_hash)
    keep = digest(current_session) if current_session else None
    await SessionRepository(work.session).end_all(work.caller.user_id, except_hash=keep)
    if revoke_tokens:
        for token in await TokenRepository(work.session).revoke_own():
            await AuditLog(work).record(TokenRevoked(token.id, token.name))
    await AuditLog(work).record(PasswordChanged(work.caller.user_id))


def _throttle_keys(email: str, address: str | None) -> tuple[str, str]:
    # By account and address, so that nobody can lock a user out from elsewhere; hashed, so that the table does not list
    # emails.
    network = _network_of(address)
    account = f"account\0{email_key(email)}\0{network}"
    return hashlib.sha256(account.encode()).hexdigest(), hashlib.sha256(f"address\0{network}".encode()).hexdigest()


def _network_of(address: str | None) -> str:
    """Return the network of an address: of IPv6 the /64, since one machine has 2^64 addresses in it."""
    try:
        known = ipaddress.ip_address(address or "")
    except ValueError:
        return address or "unknown"
    if known.version == 4 or known.ipv4_mapped:
        return str(known)
    return str(ipaddress.ip_network((known.packed, 64), strict=False))


MAX_LIFETIME = timedelta(days=3650)


class InvalidExpiry(Invalid):
    """The expiry must be in the future and within ten years"""

    code = "UnfitExpiry"


@dataclass(frozen=True)
class NewToken:
    """A new token with its secret, which is shown once and not stored."""

    token: ApiToken
    secret: str


async def create_token(work: Work[Principal], name: str, *, expires_at: datetime, now: datetime) -> NewToken:
    """Create a named token with the caller's own permissions."""
    if not now < expires_at <= now + MAX_LIFETIME:
        raise InvalidExpiry
    secret = new_api_token()
    token = await TokenRepository(work.session).add(work.caller, name, digest(secret), expires_at=expires_at)
    await AuditLog(work).record(TokenCreated(token.id, name, expires_at.isoformat()))
    return NewToken(token, secret)


async def revoke_token(work: Work[Principal], token_id: UUID) -> None:
    token = await TokenRepository(work.session).revoke(token_id)
    await AuditLog(work).record(TokenRevoked(token.id, token.name))
