"""Seal events: assign numbers and link each event to the previous one (docs/design.md#sealing)."""

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
# One statement for all seals, because each one would cost a round trip and a trigger call.
_ADD = text("""
    INSERT INTO audit_seals (chain, seq, event_id, salt, payload_hash, event_hash, hash, sealed_at)
    SELECT * FROM unnest(CAST(:chain AS uuid[]), CAST(:seq AS bigint[]), CAST(:event_id AS uuid[]),
                         CAST(:salt AS bytea[]), CAST(:payload_hash AS bytea[]), CAST(:event_hash AS bytea[]),
                         CAST(:hash AS bytea[]), CAST(:sealed_at AS timestamptz[]))
""")


@dataclass(frozen=True)
class SealPosition:
    """Position of an event in its chain; the hash covers everything up to it."""

    seq: int
    hash: str


class SealRepository:
    """Queries on seals of one chain: that of the session's organization, or of the installation."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def lock(self, chain: UUID) -> None:
        """Lock the chain until the transaction ends, so that only one process seals it."""
        await self._session.execute(_LOCK_CHAIN, {"chain": str(chain)})

    async def find_last(self, chain: UUID) -> tuple[int, bytes] | None:
        """Return number and hash of the newest link."""
        newest = select(AuditSeal.seq, AuditSeal.hash).where(AuditSeal.chain == chain)
        row = (await self._session.execute(newest.order_by(AuditSeal.seq.desc()).limit(1))).one_or_none()
        return (row[0], row[1]) if row else None

    async def find_hash(self, chain: UUID, seq: int) -> bytes | None:
        found: bytes | None = await self._session.scalar(select(AuditSeal.hash).filter_by(chain=chain, seq=seq))
        return found

    async def list_links(self, chain: UUID, *, after: int, limit: int) -> Sequence[tuple[int, bytes, bytes]]:
        """Return number, event hash and hash of each link after the number `after`, in order."""
        links = select(AuditSeal.seq, AuditSeal.event_hash, AuditSeal.hash).where(AuditSeal.chain == chain)
        rows = await self._session.execute(links.where(AuditSeal.seq > after).order_by(AuditSeal.seq).limit(limit))
        return [(seq, event_digest, digest) for seq, event_digest, digest in rows]

    async def list_unsealed(self, chain: UUID, *, limit: int) -> Sequence[AuditEvent]:
        """Return committed events without a seal, in the order in which they happened."""
        waiting = select(AuditEvent).join(AuditUnsealed, AuditUnsealed.event_id == AuditEvent.id)
        waiting = waiting.where(AuditUnsealed.chain == chain).order_by(AuditUnsealed.at, AuditUnsealed.event_id)
        return (await self._session.scalars(waiting.limit(limit))).all()

    async def add(self, seals: Sequence[dict[str, Any]]) -> None:
        columns = {name: [seal[name] for seal in seals] for name in seals[0]}
        await self._session.execute(_ADD, columns)

    async def oldest_unsealed_seconds(self, chain: UUID) -> float:
        """Return the age of the oldest event without a seal, or 0 if there is none."""
        waited = func.extract("epoch", func.clock_timestamp() - func.min(AuditUnsealed.at))
        return float(await self._session.scalar(select(waited).where(AuditUnsealed.chain == chain)) or 0)


class Sealer:
    """Seals chains. Several processes may call it; each chain is sealed by one at a time."""

    def __init__(self, database: Database, signer: Signer) -> None:
        self._database = database
        self.signer = signer

    async def seal(self, organization_id: UUID | None) -> None:
        """Seal all events of the chain committed before the call; `None` is the chain of the installation."""
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
    """Build the seals of these events, in this order, after the position `after`."""
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
    """Return the event without its payload, as it is hashed and exported."""
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
