"""Sign the heads of the audit chains (docs/design.md#heads), in the database and in the object store.

Anyone who deletes or rewrites what precedes a head cannot sign it again.
"""

import json
import operator
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

import structlog
from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.audit.hashing import canonical_json, chain_of, genesis_hash, link_hash, to_rfc3339
from muniment.audit.keys import KeyRepository
from muniment.audit.sealing import BATCH, SealRepository
from muniment.audit.signing import Signer
from muniment.audit.tables import AuditHead
from muniment.errors import MunimentError
from muniment.storage.db.base import now
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, Work
from muniment.storage.objects.port import ObjectStore

log = structlog.get_logger()

OBJECT_PREFIX = "audit/heads"
"""Prefix of the signed heads in the object store. They are neither documents nor orphans."""


HEADS_PER_FOLDER = 10_000


class ChainBroken(MunimentError):
    """The audit chain does not continue from its last signed head. Run `muniment audit verify`"""


@dataclass(frozen=True)
class Head:
    """A signed statement: at `at` the chain had `seq` links, and the last one had this hash."""

    chain: UUID
    seq: int
    hash: str
    at: str
    previous_seq: int
    key_id: str
    signature: str = ""

    def message(self) -> bytes:
        return canonical_json({"kind": "muniment.audit.head/1", **self.as_json(), "signature": None})

    def signed_by(self, signer: Signer) -> "Head":
        return replace(self, signature=signer.sign(self.message()).hex())

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "chain": str(self.chain)}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Head":
        """Parse the output of `as_json`. Raise `KeyError`, `TypeError` or `ValueError` for anything else."""
        return cls(
            chain=UUID(values["chain"]),
            seq=operator.index(values["seq"]),
            hash=bytes.fromhex(values["hash"]).hex(),
            at="" + values["at"],
            previous_seq=operator.index(values["previous_seq"]),
            key_id="" + values["key_id"],
            signature=bytes.fromhex(values["signature"]).hex(),
        )


def head_object_key(chain: UUID, seq: int) -> str:
    """Return the key of a head. Keys sort by number and are never written twice, so the store may be write-once."""
    return f"{OBJECT_PREFIX}/{chain}/{seq // HEADS_PER_FOLDER:015d}/{seq:019d}.json"


class HeadRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def find_newest(self, chain: UUID) -> Head | None:
        newest = select(AuditHead).where(AuditHead.chain == chain).order_by(AuditHead.seq.desc()).limit(1)
        row = await self._session.scalar(newest)
        return _to_head(row) if row else None

    async def list_(self, chain: UUID, *, after: int, until: int) -> Sequence[Head]:
        """Return the heads after the number `after` up to `until`, in order."""
        query = select(AuditHead).where(AuditHead.chain == chain, AuditHead.seq > after, AuditHead.seq <= until)
        return [_to_head(row) for row in await self._session.scalars(query.order_by(AuditHead.seq))]

    async def add_once(self, head: Head) -> bool:
        """Store a head. Return False if it exists already."""
        columns = {**asdict(head), "at": datetime.fromisoformat(head.at)}
        columns |= {name: bytes.fromhex(columns[name]) for name in ("hash", "signature")}
        added = insert(AuditHead).values(columns).on_conflict_do_nothing().returning(AuditHead.seq)
        return await self._session.scalar(added) is not None


class HeadSigner:
    """Sign the ends of chains, in the object store first and then in the database, so that each row has its object."""

    def __init__(self, database: Database, objects: ObjectStore, signer: Signer) -> None:
        self._database = database
        self._objects = objects
        self._signer = signer

    async def sign_chain(self, organization_id: UUID | None) -> None:
        """Sign the end of the chain if it has grown. Raise `ChainBroken` if it does not continue the last head.

        A process that was not restarted after the key was replaced leaves this to the others: a head by the old key
        after one by the new key would look forged.
        """
        signer = self._signer.current()
        head = await self._new_head(organization_id, signer.key_id)
        if head is None:
            return
        head = await self._store_object(head.signed_by(signer))
        async with self._database.service_work(Service(organization_id)) as work:
            await HeadRepository(work.session).add_once(head)

    async def _new_head(self, organization_id: UUID | None, key_id: str) -> Head | None:
        chain = chain_of(organization_id)
        async with self._database.service_work(Service(organization_id)) as work:
            last = await HeadRepository(work.session).find_newest(chain)
            seq, digest = await SealRepository(work.session).find_last(chain) or (0, b"")
            if seq == (last.seq if last else 0):
                return None
            if await KeyRepository(work.session).is_replaced(key_id):
                log.warning("audit.key_replaced", chain=str(chain), key_id=key_id)
                return None
            await _require_continuity(work, chain, last, until=seq)
        return Head(chain, seq, digest.hex(), to_rfc3339(now()), last.seq if last else 0, key_id)

    async def _store_object(self, head: Head) -> Head:
        """Store the head as an object. Return an existing one, left by a process that died after writing it."""
        key = head_object_key(head.chain, head.seq)
        if await self._objects.put_if_absent(key, json.dumps(head.as_json()).encode()):
            return head
        existing = Head.from_json(json.loads(await self._objects.get(key)))
        if existing.hash != head.hash:
            raise ChainBroken
        return existing


async def _require_continuity(work: Work[Service], chain: UUID, last: Head | None, *, until: int) -> None:
    """Require that every link since the last head follows from it: a rewritten chain must not be signed."""
    seals = SealRepository(work.session)
    seq, previous = (last.seq, bytes.fromhex(last.hash)) if last else (0, genesis_hash(chain))
    if last and await seals.find_hash(chain, last.seq) != previous:
        raise ChainBroken
    while seq < until:
        links = await seals.list_links(chain, after=seq, limit=BATCH)
        for found, event_digest, digest in links:
            if found != seq + 1 or digest != link_hash(previous, found, event_digest):
                raise ChainBroken
            seq, previous = found, digest
        if not links:
            raise ChainBroken


def _to_head(row: AuditHead) -> Head:
    return Head(
        row.chain, row.seq, row.hash.hex(), to_rfc3339(row.at), row.previous_seq, row.key_id, row.signature.hex()
    )


class UnreadableHead(Exception):  # a result, not an error
    """The object cannot be read as a head."""


class StoredHeads:
    """Iterator over the stored heads of one chain, in constant memory."""

    def __init__(self, objects: ObjectStore, chain: UUID) -> None:
        self._objects = objects
        self._chain = chain
        self._keys = list_head_keys(objects, chain)
        self._current_key = ""

    async def has(self, seq: int) -> bool:
        """Whether a head of this number exists. Must be called with increasing numbers."""
        key = head_object_key(self._chain, seq)
        while self._current_key < key and await self._advance():
            pass
        return self._current_key == key

    def skip_to(self, seq: int) -> None:
        """Continue with the head of this number. Earlier ones are not listed."""
        self._keys = list_head_keys(self._objects, self._chain, after=head_object_key(self._chain, seq - 1))

    async def newest(self) -> Head | None:
        """Return the last head, or `UnreadableHead` with its key. Nothing can be asked afterwards."""
        while await self._advance():
            pass
        return await self._read(self._current_key) if self._current_key else None

    async def _advance(self) -> bool:
        key = await anext(self._keys, None)
        self._current_key = key or self._current_key
        return key is not None

    async def _read(self, key: str) -> Head:
        try:
            head = Head.from_json(json.loads(await self._objects.get(key)))
        except (ValueError, KeyError, TypeError):
            raise UnreadableHead(key) from None
        if head_object_key(self._chain, head.seq) != key:  # an older head under the key of the newest one
            raise UnreadableHead(key)
        return head


async def list_head_keys(objects: ObjectStore, chain: UUID, *, after: str = "") -> AsyncIterator[str]:
    async for found in objects.list(f"{OBJECT_PREFIX}/{chain}/", after=after):
        yield found.key


async def list_stored_chains(objects: ObjectStore) -> AsyncIterator[UUID]:
    """Return the chains that have a stored head; other names are ignored."""
    after = ""
    while key := await _first_key_after(objects, after):
        name = key.removeprefix(f"{OBJECT_PREFIX}/").partition("/")[0]
        after = f"{OBJECT_PREFIX}/{name}/~"  # sorts after all digits: one step per chain, not per head
        try:
            yield UUID(name)
        except ValueError:
            continue


async def _first_key_after(objects: ObjectStore, after: str) -> str | None:
    async for found in objects.list(f"{OBJECT_PREFIX}/", after=after):
        return found.key
    return None
