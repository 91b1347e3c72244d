"""Lines of an exported audit log: JSON Lines that can be verified without the server that wrote them.

A header comes first, then events in the order of their numbers, stubs for events that the filter or the reader's access
excludes, and signed heads. The last line is signed and states which range the file contains.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from muniment.audit.chain_check import ChainLink
from muniment.audit.hashing import canonical_json, to_rfc3339
from muniment.audit.heads import Head
from muniment.audit.keys import PublicKey
from muniment.audit.repository import EventFilter
from muniment.audit.sealing import envelope_of
from muniment.audit.signing import Signer
from muniment.audit.tables import AuditEvent, AuditSeal

FORMAT = "muniment-audit/1"


@dataclass(frozen=True)
class ExportFooter:
    """The signed last line.

    It states what the file contains, so that neither its beginning nor its end can be cut off.
    """

    chain: str
    filters: Mapping[str, Any]
    first_seq: int
    previous_hash: str
    last_seq: int
    hash: str
    events: int
    exported_at: str
    key_id: str
    signature: str = ""

    def message(self) -> bytes:
        return canonical_json({"kind": "muniment.audit.export/1", **asdict(replace(self, signature=""))})

    def signed_by(self, signer: Signer) -> "ExportFooter":
        return replace(self, signature=signer.sign(self.message()).hex())

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "ExportFooter":
        """Parse a footer. Raise `KeyError`, `TypeError` or `ValueError` for anything else."""
        end = cls(**{name: values[name] for name in cls.__dataclass_fields__})
        bytes.fromhex(end.signature)
        return end


def filters_as_json(event_filter: EventFilter) -> dict[str, Any]:
    """Return the filter of the export as JSON."""
    return {name: _plain(value) for name, value in asdict(event_filter).items() if value is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return to_rfc3339(value)
    return str(value) if isinstance(value, UUID) else value


def header_line(chain: UUID, first: ChainLink, signer: Signer, keys: Sequence[PublicKey]) -> bytes:
    """Return the header line. `first` is the position before the first event."""
    return _line(
        "header",
        {
            "format": FORMAT,
            "chain": str(chain),
            "first_seq": first.seq + 1,
            "previous_hash": first.hash.hex(),
            "public_key": signer.public_key.hex(),
            "keys": [key.as_json() for key in keys],
        },
    )


def event_line(seal: AuditSeal, event: AuditEvent) -> bytes:
    sealed = {
        "seq": seal.seq,
        "hash": seal.hash.hex(),
        "event_hash": seal.event_hash.hex(),
        "salt": seal.salt.hex(),
        "sealed_at": to_rfc3339(seal.sealed_at),
    }
    return _line("event", {**sealed, **envelope_of(event), "payload": event.payload})


def stub_line(link: ChainLink) -> bytes:
    return _line("stub", {"seq": link.seq, "event_hash": link.event_hash.hex(), "hash": link.hash.hex()})


def head_line(head: Head) -> bytes:
    return _line("head", head.as_json())


def footer_line(footer: ExportFooter) -> bytes:
    return _line("end", asdict(footer))


def _line(kind: str, values: Mapping[str, Any]) -> bytes:
    return canonical_json({"kind": kind, **values}) + b"\n"
