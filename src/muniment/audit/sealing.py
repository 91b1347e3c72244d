"""Giving events their place: one after the other, each linked to the one before it (docs/design.md#sealing)."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.audit.hashing import chain_of, event_hash, genesis_hash, link_hash, payload_hash, to_rfc3339
from muniment.audit.signing import Signer
from muniment.audit.tables import AuditEvent, AuditSeal, AuditUnsealed
from muniment.storage.db.base import now
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database

BATCH = 1000
SALT_BYTES = 16
_LOCK_CHAIN = text("SELECT pg_advisory_xact_lock(hashtextextended('audit.seal:' || :chain, 0))")
# One statement, whatever the number: a thousand would be as many round trips and calls of the trigger.
_ADD = text("""
    INSERT INTO audit_seals (chain, seq, event_id, salt, payload_hash, event_hash, hash, sealed_at)
    SELECT * FROM unnest(CAST(:chain AS uuid[]), CAST(:seq AS bigint[]), CAST(:event_id AS uuid[]),
                         CAST(:salt AS bytea[]), CAST(:payload_hash AS bytea[]), CAST(:event_hash AS bytea[]),
                         CAST(:hash AS bytea[]), CAST(:sealed_at AS timestamptz[]))
""")


@dataclass(frozen=True)
class SealPosition:
    """Where an event stands in its chain; the hash holds everything up to there."""

    seq: int
    hash: str


class SealRepository:
    """Of one chain: that of the organization in whose name the session works, or of the installation."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def lock(self, chain: UUID) -> None:
        """Be the one sealer of this chain until the transaction ends."""
        await self._session.execute(_LOCK_CHAIN, {"chain": str(chain)})

    async def find_last(self, chain: UUID) -> tuple[int, bytes] | None:
        """Number and hash of the newest link."""
        newest = select(AuditSeal.seq, AuditSeal.hash).where(AuditSeal.chain == chain)
        row = (await self._session.execute(newest.order_by(AuditSeal.seq.desc()).limit(1))).one_or_none()
        return (row[0], row[1]) if row else None

    async def find_hash(self, chain: UUID, seq: int) -> bytes | None:
        found: bytes | None = await self._session.scalar(select(AuditSeal.hash).filter_by(chain=chain, seq=seq))
        return found

    async def list_links(self, chain: UUID, *, after: int, limit: int) -> Sequence[tuple[int, bytes, bytes]]:
        """Number, hash of the event and hash of each link behind the number `after`, in order."""
        links = select(AuditSeal.seq, AuditSeal.event_hash, AuditSeal.hash).where(AuditSeal.chain == chain)
        rows = await self._session.execute(links.where(AuditSeal.seq > after).order_by(AuditSeal.seq).limit(limit))
        return [(seq, event_digest, digest) for seq, event_digest, digest in rows]

    async def list_unsealed(self, chain: UUID, *, limit: int) -> Sequence[AuditEvent]:
        """Committed and without a seal, in the order in which they happened."""
        waiting = select(AuditEvent).join(AuditUnsealed, AuditUnsealed.event_id == AuditEvent.id)
        waiting = waiting.where(AuditUnsealed.chain == chain).order_by(AuditUnsealed.at, AuditUnsealed.event_id)
        return (await self._session.scalars(waiting.limit(limit))).all()

    async def add(self, seals: Sequence[dict[str, Any]]) -> None:
        columns = {name: [seal[name] for seal in seals] for name in seals[0]}
        await self._session.execute(_ADD, columns)

    async def oldest_unsealed_seconds(self, chain: UUID) -> float:
        """How long the oldest event without a seal has waited; 0 when none does."""
        waited = func.extract("epoch", func.clock_timestamp() - func.min(AuditUnsealed.at))
        return float(await self._session.scalar(select(waited).where(AuditUnsealed.chain == chain)) or 0)


class Sealer:
    """Seals chains. Any number of processes may try: of each chain one at a time does."""

    def __init__(self, database: Database, signer: Signer) -> None:
        self._database = database
        self.signer = signer

    async def seal(self, organization_id: UUID | None) -> None:
        """Seal everything of this chain that was committed before the call; `None` is the installation's chain."""
        while await self._seal_batch(organization_id) == BATCH:
            pass

    async def _seal_batch(self, organization_id: UUID | None) -> int:
        chain = chain_of(organization_id)
        async with self._database.service_work(Service(organization_id)) as work:
            seals = SealRepository(work.session)
            await seals.lock(chain)
            events = await seals.list_unsealed(chain, limit=BATCH)
            if events:
                last = await seals.find_last(chain) or (0, genesis_hash(chain))
                await seals.add(build_seals(chain, events, after=last, at=now()))
            return len(events)


def build_seals(
    chain: UUID, events: Sequence[AuditEvent], *, after: tuple[int, bytes], at: datetime
) -> Sequence[dict[str, Any]]:
    """The seals of these events, in this order, behind the place `after`."""
    rows = []
    seq, previous = after
    for event in events:
        seq, salt = seq + 1, secrets.token_bytes(SALT_BYTES)
        payload_digest = payload_hash(salt, event.payload)
        event_digest = event_hash(envelope_of(event), payload_digest, to_rfc3339(at))
        previous = link_hash(previous, seq, event_digest)
        rows.append(
            {
                "chain": chain,
                "seq": seq,
                "event_id": event.id,
                "salt": salt,
                "payload_hash": payload_digest,
                "event_hash": event_digest,
                "hash": previous,
                "sealed_at": at,
            }
        )
    return rows


def envelope_of(event: AuditEvent) -> dict[str, Any]:
    """The event without its payload, as it is hashed and exported."""
    return {
        "id": str(event.id),
        "at": to_rfc3339(event.at),
        "action": event.action,
        "actor": event.actor,
        "organization_id": _text(event.organization_id),
        "kb_id": _text(event.kb_id),
        "document_id": _text(event.document_id),
        "address": event.address,
    }


def _text(value: UUID | None) -> str | None:
    return str(value) if value else None
