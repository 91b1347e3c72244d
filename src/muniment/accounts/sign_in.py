"""Sign users in and out, and manage their API tokens.

Failed attempts are throttled by account and by network address.
"""

import asyncio
import hashlib
import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from muniment.accounts.credentials import Passwords, digest, email_key, new_api_token, new_secret
from muniment.accounts.repository import Login, SessionRepository, SignInRepository, TokenRepository, UserRepository
from muniment.accounts.tables import ApiToken
from muniment.audit.events import PasswordChanged, SignedIn, SignedOut, TokenCreated, TokenRevoked
from muniment.audit.log import AuditLog
from muniment.errors import Conflict, Forbidden, Invalid, NotSignedIn, TooManyRequests
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Database, Work
from muniment.telemetry.metrics import SIGNINS

ALLOWED_PER_ACCOUNT, ACCOUNT_RESET_AFTER = 5, timedelta(minutes=10)


ALLOWED_PER_ADDRESS, ADDRESS_RESET_AFTER = 50, timedelta(minutes=1)


class WrongCredentials(NotSignedIn):
    """Incorrect email or password"""


class SeveralOrganizations(Conflict):
    """This email address and password belong to several organizations. Choose one."""

    def __init__(self, logins: Sequence[Login]) -> None:
        super().__init__()
        self.body: Mapping[str, object] = {
            "detail": self.message,
            "organizations": [
                {"id": str(login.principal.organization_id), "name": login.organization_name} for login in logins
            ],
        }


class WrongPassword(Forbidden):
    """The current password is incorrect"""


class FirstPasswordNeedsSession(Forbidden):
    """An API token cannot set the first password of an account. Open the sign-in link"""


class LinkInvalid(NotSignedIn):
    """This sign-in link has expired or was already used. Ask your operator for a new one"""

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

    async def with_password(
        self, email: str, password: str, *, address: str | None, now: datetime, organization_id: UUID | None = None
    ) -> OpenedSession:
        """Open a session or raise `WrongCredentials`.

        Raise `SeveralOrganizations` if the password is right in several of them and none was chosen. After several
        failures raise `TooManyFailures`, even if the password is right.
        """
        logins = await self._check_password(email, password, organization_id=organization_id, address=address)
        if not logins:
            raise WrongCredentials
        if len(logins) > 1:
            raise SeveralOrganizations(logins)
        principal = logins[0].principal
        async with self._database.work(principal) as work:
            keys = _email_throttle(email, address), _account_throttle(principal.user_id, address)
            for key in sorted(keys):  # the order of `_record_failures`
                await SignInRepository(work.session).reset_failures(key)
            await UserRepository(work.session).hold_credentials(principal.user_id)
            if logins[0] not in await SignInRepository(work.session, address).find_logins(email_key(email)):
                raise WrongCredentials  # the password was changed while this one was verified
            return await self._open_session(work, by="password", now=now)

    async def confirm_password(self, principal: Principal, password: str | None, *, has_session: bool) -> None:
        """Raise `WrongPassword` unless this is the user's password; throttled like signing in.

        An account without a password has nothing to confirm, but needs a session: whoever holds a token that was kept
        when the password was reset must not be able to take the account over.
        """
        async with self._database.work(principal) as work:
            users = UserRepository(work.session)
            user = await users.get(principal.user_id)
            if not await users.has_own_password():
                if not has_session:
                    raise FirstPasswordNeedsSession
                return
        logins = await self._check_password(
            user.email, password or "", organization_id=principal.organization_id, address=principal.address
        )
        if principal.user_id not in {login.principal.user_id for login in logins}:
            raise WrongPassword

    async def with_link(self, secret: str, *, address: str | None, now: datetime) -> OpenedSession:
        """Open a session with a one-time link, which becomes invalid."""
        async with self._database.anonymous_work(address) as work:
            principal = await SignInRepository(work.session, address).redeem_link(digest(secret))
            if principal is None:  # raised here, so that the link of a deactivated account stays for later
                raise LinkInvalid
        async with self._database.work(principal) as user_work:
            # A link is for accounts without a password; an older link must not be valid once there is one.
            if await UserRepository(user_work.session).has_own_password():
                raise LinkInvalid
            return await self._open_session(user_work, by="link", now=now)

    async def _check_password(
        self, email: str, password: str, *, organization_id: UUID | None, address: str | None
    ) -> list[Login]:
        """Return the accounts with this email and password, in one organization or in all; record the failures."""
        email_throttle, address_throttle = _email_throttle(email, address), _address_throttle(address)
        async with self._login_slots:
            async with self._database.anonymous_work(address) as work:
                sign_ins = SignInRepository(work.session, address)
                if wait := await sign_ins.wait_seconds([email_throttle, address_throttle]):
                    SIGNINS.labels("throttled").inc()
                    raise TooManyFailures(retry_after_seconds=wait)
                candidates = await _find_candidates(sign_ins, email, organization_id, address)
            right = [each for each in candidates if await self._is_right(each, password)]
            failed = [each.throttle for each in candidates if each not in right and not each.is_blocked]
            if not right:
                SIGNINS.labels("wrong").inc()
                await self._record_failures([email_throttle, *failed], address_throttle)
            elif failed:
                await self._record_failures(failed)
            return [each.login for each in right if each.login]

    async def _is_right(self, candidate: "_Candidate", password: str) -> bool:
        stored = candidate.login.password_hash if candidate.login else None
        # A blocked one takes as long.
        return await self._passwords.verify(stored, password) and not candidate.is_blocked

    async def _open_session(self, work: Work[Principal], *, by: str, now: datetime) -> OpenedSession:
        secret, expires_at = new_secret(), now + self._lifetime
        await SessionRepository(work.session).add(work.caller, digest(secret), expires_at=expires_at)
        await AuditLog(work).record(SignedIn(by))
        SIGNINS.labels("ok").inc()
        return OpenedSession(work.caller, secret, expires_at)

    async def _record_failures(self, account_keys: Sequence[str], address_key: str | None = None) -> None:
        async with self._database.anonymous_work() as work:
            sign_ins = SignInRepository(work.session)
            for key in sorted(account_keys):  # in one order, or two attempts could wait for each other
                await sign_ins.record_failure(key, allowed=ALLOWED_PER_ACCOUNT, reset_after=ACCOUNT_RESET_AFTER)
            if address_key:
                await sign_ins.record_failure(address_key, allowed=ALLOWED_PER_ADDRESS, reset_after=ADDRESS_RESET_AFTER)


async def sign_out(work: Work[Principal], secret: str) -> None:
    if await SessionRepository(work.session).end(digest(secret)):
        await AuditLog(work).record(SignedOut())


async def set_password(
    work: Work[Principal], password_hash: str, *, current_session: str | None, revoke_tokens: bool
) -> None:
    """Set the caller's new password, end all their other sessions and, if asked, revoke their API tokens.

    The caller holds the lock of the credentials.
    """
    await UserRepository(work.session).set_own_password(password_hash)
    keep = digest(current_session) if current_session else None
    await SessionRepository(work.session).end_all(work.caller.user_id, except_hash=keep)
    if revoke_tokens:
        for token in await TokenRepository(work.session).revoke_own():
            await AuditLog(work).record(TokenRevoked(token.id, token.name))
    await AuditLog(work).record(PasswordChanged(work.caller.user_id))


@dataclass(frozen=True)
class _Candidate:
    """An account whose password is checked. Without a login it stands for the account that does not exist."""

    login: Login | None
    throttle: str
    is_blocked: bool
    """Whether the right password counts as wrong for now, because of earlier failures."""


async def _find_candidates(
    sign_ins: SignInRepository, email: str, organization_id: UUID | None, address: str | None
) -> list[_Candidate]:
    """Return the accounts with this email, each with its own failures.

    Failures of the email are answered with 429 and end with any sign-in: they are all that is noticed, whether or not
    there is a second account. Failures of an account are silent and end only with its own password. Otherwise an admin
    could give a user of theirs the address of another organization's user and guess that user's password without
    limit: between sign-ins that end the failures, or by making each guess the password of their own user.
    """
    found: dict[str, Login | None] = {
        _account_throttle(login.principal.user_id, address): login
        for login in await sign_ins.find_logins(email_key(email))
        if organization_id in (None, login.principal.organization_id)
    }
    if not found:  # checked and counted like one, so that the time does not tell
        found[_account_throttle(email_key(email), address)] = None
    return [_Candidate(login, key, is_blocked=await sign_ins.wait_seconds([key]) > 0) for key, login in found.items()]


# By address, so that nobody can lock a user out from elsewhere; hashed, so that the table does not list emails.
def _email_throttle(email: str, address: str | None) -> str:
    return _hashed("account", email_key(email), _network_of(address))


def _account_throttle(account: UUID | str, address: str | None) -> str:
    return _hashed("user", str(account), _network_of(address))


def _address_throttle(address: str | None) -> str:
    return _hashed("address", _network_of(address))


def _hashed(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


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
