"""Signing keys of this installation. Each key vouches for the previous one, so that trusting the newest is enough."""

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import exists, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.audit.events import SigningKeyChanged
from muniment.audit.hashing import canonical_json, to_rfc3339
from muniment.audit.log import AuditLog
from muniment.audit.signing import Signer, key_id_of, verify
from muniment.audit.tables import AuditKey
from muniment.errors import Conflict, MunimentError
from muniment.storage.db.base import now
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database


class SigningKeyMismatch(MunimentError):
    """MUNIMENT_SIGNING_KEY does not match the audit log"""

    code = "UnknownSigningKey"


class SigningKeyReused(Conflict):
    """This key was used before and has been replaced. Create a new one"""

    code = "SpentSigningKey"


@dataclass(frozen=True)
class PublicKey:
    key_id: str
    public_key: bytes
    previous_key_id: str | None
    at: str
    signature: bytes

    def message(self, previous: bytes | None) -> bytes:
        """Return what the owner of the key signed: that it follows `previous`, the public key before it."""
        return canonical_json(
            {
                "kind": "muniment.audit.key/1",
                "key_id": self.key_id,
                "public_key": self.public_key.hex(),
                "previous_key_id": self.previous_key_id,
                "previous_public_key": previous.hex() if previous else None,
                "at": self.at,
            }
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "key_id": self.key_id,
            "public_key": base64.b64encode(self.public_key).decode(),
            "previous_key_id": self.previous_key_id,
            "at": self.at,
            "signature": self.signature.hex(),
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "PublicKey":
        """Parse the output of `as_json`. Raise `KeyError`, `TypeError` or `ValueError` for anything else."""
        return cls(
            key_id=values["key_id"],
            public_key=base64.b64decode(values["public_key"], validate=True),
            previous_key_id=values["previous_key_id"],
            at=values["at"],
            signature=bytes.fromhex(values["signature"]),
        )


class KeyRing:
    """Keys whose signatures are valid: the trusted key and those that it vouches for, newest first."""

    def __init__(self, known: Iterable[PublicKey], trusted: bytes) -> None:
        by_id = {key.key_id: key for key in known}
        self._public_keys: dict[str, bytes] = {}
        found: bytes | None = trusted
        while found is not None and key_id_of(found) not in self._public_keys:
            self._public_keys[key_id_of(found)] = found
            key = by_id.get(key_id_of(found))
            found = _verified_predecessor(key, found, by_id) if key else None

    def successors_of(self, key_id: str) -> int | None:
        """Return the number of later keys, or `None` for a key that no trusted key vouches for."""
        return list(self._public_keys).index(key_id) if key_id in self._public_keys else None

    def untrusted(self, known: Iterable[PublicKey]) -> Sequence[str]:
        """Return the known keys that no trusted key vouches for, or that were changed."""
        by_id = {key.key_id: key for key in known}
        return [key.key_id for key in by_id.values() if not self._is_as_signed(key, by_id)]

    def _is_as_signed(self, key: PublicKey, by_id: Mapping[str, PublicKey]) -> bool:
        previous = by_id.get(key.previous_key_id or "")
        message = key.message(previous.public_key if previous else None)
        return self._public_keys.get(key.key_id) == key.public_key and verify(key.public_key, message, key.signature)

    def verify(self, key_id: str, message: bytes, signature: bytes) -> bool:
        return key_id in self._public_keys and verify(self._public_keys[key_id], message, signature)


def _verified_predecessor(key: PublicKey, public_key: bytes, by_id: Mapping[str, PublicKey]) -> bytes | None:
    previous = by_id.get(key.previous_key_id or "")
    if previous is None or not verify(public_key, key.message(previous.public_key), key.signature):
        return None
    return previous.public_key if key_id_of(previous.public_key) == previous.key_id else None


class KeyRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def list_(self) -> Sequence[PublicKey]:
        """Return all keys, oldest first."""
        rows = await self._session.scalars(select(AuditKey).order_by(AuditKey.at, AuditKey.key_id))
        return [
            PublicKey(row.key_id, row.public_key, row.previous_key_id, to_rfc3339(row.at), row.signature)
            for row in rows
        ]

    async def is_replaced(self, key_id: str) -> bool:
        """Return whether the key has a successor."""
        return bool(await self._session.scalar(select(exists().where(AuditKey.previous_key_id == key_id))))

    async def add_once(self, signer: Signer, previous: PublicKey | None) -> bool:
        """Add a key after `previous`. Return False if another process was first."""
        at = now()
        key = PublicKey(signer.key_id, signer.public_key, previous.key_id if previous else None, to_rfc3339(at), b"")
        signature = signer.sign(key.message(previous.public_key if previous else None))
        row = {**vars(key), "at": at, "signature": signature}
        added = insert(AuditKey).values(row).on_conflict_do_nothing().returning(AuditKey.key_id)
        return await self._session.scalar(added) is not None


async def register_first_key(database: Database, signer: Signer) -> None:
    """Register the first key. Raise `SigningKeyMismatch` if another one is registered."""
    async with database.service_work(Service()) as work:
        keys = KeyRepository(work.session)
        if not await keys.list_():
            await keys.add_once(signer, None)
    await require_current_key(database, signer)


async def require_current_key(database: Database, signer: Signer) -> None:
    """Raise `SigningKeyMismatch` if another key is in use."""
    async with database.service_work(Service()) as work:
        newest = current_key(await KeyRepository(work.session).list_())
    if newest is not None and newest.key_id != signer.key_id:
        raise SigningKeyMismatch


async def rotate_key(database: Database, signer: Signer) -> bool:
    """Use this key from now on. Return False if it is already in use. Earlier signatures stay valid."""
    async with database.service_work(Service()) as work:
        keys = KeyRepository(work.session)
        newest = current_key(await keys.list_())
        if newest is not None and newest.key_id == signer.key_id:
            return False
        if not await keys.add_once(signer, newest):
            raise SigningKeyReused
        await AuditLog(work).record(SigningKeyChanged(newest.key_id if newest else None, signer.key_id))
    return True


def current_key(keys: Sequence[PublicKey]) -> PublicKey | None:
    """Return the key that has no successor."""
    replaced = {key.previous_key_id for key in keys}
    return next((key for key in keys if key.key_id not in replaced), None)
