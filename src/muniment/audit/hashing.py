"""Canonical JSON and the hashes of the audit chain.

Each link covers everything people read of one event, and the link before it:

    payload_hash = sha256(salt ‖ canonical(payload))
    event_hash   = sha256(canonical({every other column, payload_hash, sealed_at}))
    hash         = sha256(previous hash ‖ seq as 8 bytes ‖ event_hash)

The salt is random: nothing can be guessed from `event_hash` alone, and a payload could be deleted together with its
salt one day while `payload_hash` keeps the chain intact.
"""

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID


def canonical_json(value: Any) -> bytes:
    """Return JSON with sorted keys and no spaces in UTF-8. Raise `TypeError` or `ValueError` for other values."""
    written = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return written.encode()


INSTALLATION_CHAIN = UUID(int=0)
"""Id of the chain of events that belong to no organization."""


ENVELOPE_FIELDS = ("id", "at", "action", "actor", "organization_id", "kb_id", "document_id", "address")
"""Columns of an event besides its payload, as users read them."""


def chain_of(organization_id: UUID | None) -> UUID:
    return organization_id or INSTALLATION_CHAIN


def organization_of(chain: UUID) -> UUID | None:
    return None if chain == INSTALLATION_CHAIN else chain


def to_rfc3339(at: datetime) -> str:
    """Format a time as it is hashed, signed and exported: RFC 3339, UTC, microseconds."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def genesis_hash(chain: UUID) -> bytes:
    """Return the hash before the first link. It differs per chain, so that no chain can pass for another one."""
    return hashlib.sha256(b"muniment audit chain " + chain.bytes).digest()


def payload_hash(salt: bytes, payload: Mapping[str, Any]) -> bytes:
    return hashlib.sha256(salt + canonical_json(payload)).digest()


def event_hash(envelope: Mapping[str, Any], payload_digest: bytes, sealed_at: str) -> bytes:
    """Hash an event. `envelope` has exactly the columns of `ENVELOPE_FIELDS`, formatted as in JSON."""
    assert set(envelope) == set(ENVELOPE_FIELDS)
    return hashlib.sha256(
        canonical_json({**envelope, "payload_hash": payload_digest.hex(), "sealed_at": sealed_at})
    ).digest()


def link_hash(previous: bytes, seq: int, event_digest: bytes) -> bytes:
    return hashlib.sha256(previous + seq.to_bytes(8, "big") + event_digest).digest()
