from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from muniment.accounts.repository import TokenRepository
from muniment.accounts.secrets import digest, new_api_token
from muniment.accounts.tables import ApiToken
from muniment.audit.events import TokenCreated, TokenRevoked
from muniment.audit.log import AuditLog
from muniment.errors import Invalid
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work

LONGEST = timedelta(days=3650)


class UnfitExpiry(Invalid):
    """A token expires in the future, within ten years at most"""


@dataclass(frozen=True)
class NewToken:
    """Shown once: the secret is not stored."""

    token: ApiToken
    secret: str


async def create(work: Work[Principal], name: str, *, expires_at: datetime, now: datetime) -> NewToken:
    """A named token with the caller's own rights."""
    if not now < expires_at <= now + LONGEST:
        raise UnfitExpiry
    secret = new_api_token()
    token = await TokenRepository(work.session).add(work.caller, name, digest(secret), expires_at=expires_at)
    await AuditLog(work).record(TokenCreated(token.id, name, expires_at.isoformat()))
    return NewToken(token, secret)


async def revoke(work: Work[Principal], token_id: UUID) -> None:
    token = await TokenRepository(work.session).revoke(token_id)
    await AuditLog(work).record(TokenRevoked(token.id, token.name))
