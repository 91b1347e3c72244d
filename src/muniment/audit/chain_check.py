"""Walk an audit chain and collect problems. Pure: the links may come from the database or from an exported file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from muniment.audit.hashing import beginning_of, event_hash, link, payload_hash
from muniment.audit.heads import Head
from muniment.audit.keys import KeyRing

SHOWN = 100
"""Problems that are told one by one; those beyond are counted."""


@dataclass(frozen=True)
class Problem:
    seq: int | None
    """Where in the chain; none where it is about all of it."""
    sentence: str


@dataclass(frozen=True)
class Link:
    """One place of a chain, without its event: enough to go on to the next."""

    seq: int
    event_hash: bytes
    hash: bytes


@dataclass(frozen=True)
class Sealed:
    """One event as people read it, and what its seal says beside it."""

    envelope: Mapping[str, Any]
    payload: Mapping[str, Any]
    salt: bytes
    sealed_at: str
    payload_hash: bytes | None = None
    """As the seal states it, where it does."""


@dataclass(frozen=True)
class Start:
    """Where a walk begins: the place before its first link."""

    seq: int
    hash: bytes

    @classmethod
    def of(cls, chain: UUID) -> "Start":
        return cls(0, beginning_of(chain))


@dataclass
class Inspection:
    """Feed it links and heads in order, then look at `problems`. After one that does not fit it goes on from there."""

    chain: UUID
    ring: KeyRing
    start: Start
    problems: list[Problem] = field(default_factory=list)
    problem_count: int = 0
    events: int = 0
    stubs: int = 0
    signed_seq: int = 0
    """Up to here a head that is in order vouches for the chain."""
    signed_at: str | None = None
    signed_by: str | None = None

    def __post_init__(self) -> None:
        self.seq, self._previous = self.start.seq, self.start.hash
        self._key_age: int | None = None

    def take_event(self, place: Link, sealed: Sealed) -> None:
        self.events += 1
        digest = payload_hash(sealed.salt, sealed.payload)
        is_as_sealed = event_hash(sealed.envelope, digest, sealed.sealed_at) == place.event_hash
        if not is_as_sealed or sealed.payload_hash not in (None, digest):
            self.object_to(place.seq, f"The event at seq {place.seq} is not what was sealed: it was changed")
        self._take(place)

    def take_stub(self, place: Link) -> None:
        self.stubs += 1
        self._take(place)

    def take_orphan(self, place: Link) -> None:
        """A link whose event is not there."""
        self.object_to(place.seq, f"The event at seq {place.seq} is missing")
        self._take(place)

    def take_head(self, head: Head, found: bytes | None) -> None:
        """`found` is the hash that the chain has at the head's number now; none where it has no such link."""
        if not self._is_authentic(head):
            return
        if found is None:
            self.object_to(
                head.seq,
                f"The chain had {head.seq} links when its head was signed at {head.at}, and seq {head.seq} is missing"
                + (": its end was removed" if head.seq > self.seq else ""),
            )
        elif found.hex() != head.hash:
            self.object_to(
                head.seq, f"The head signed at {head.at} has another hash for seq {head.seq}: the chain was rewritten"
            )
        elif self.signed_seq < head.seq <= self.seq:
            self.signed_seq, self.signed_at, self.signed_by = head.seq, head.at, head.key_id

    def object_to(self, seq: int | None, sentence: str) -> None:
        self.problem_count += 1
        if len(self.problems) < SHOWN:
            self.problems.append(Problem(seq, sentence))

    def _take(self, place: Link) -> None:
        if place.seq != self.seq + 1:
            self.object_to(place.seq, _gap(self.seq, place.seq))
        elif place.hash != link(self._previous, place.seq, place.event_hash):
            self.object_to(
                place.seq,
                f"The link at seq {place.seq} does not follow from the one before it: "
                "something was changed, removed or reordered",
            )
        self.seq, self._previous = place.seq, place.hash

    def _is_authentic(self, head: Head) -> bool:
        age = self.ring.age_of(head.key_id)
        problem = None
        if head.chain != self.chain:
            problem = "belongs to another chain"
        elif age is None:
            problem = f"is signed with the key {head.key_id}, which does not belong to this installation"
        elif not self.ring.verify(head.key_id, head.message(), bytes.fromhex(head.signature)):
            problem = "has an invalid signature: it was forged or changed"
        elif self._key_age is not None and age > self._key_age:
            problem = f"is signed with the key {head.key_id}, which had already been replaced"
        if problem:
            self.object_to(head.seq, f"The head of seq {head.seq} {problem}")
            return False
        self._key_age = age
        return True


def _gap(before: int, found: int) -> str:
    if found <= before:
        return f"The link at seq {found} comes after seq {before}: the order was changed"
    missing = f"seq {before + 1}" if found == before + 2 else f"seq {before + 1} to {found - 1}"
    is_or_are = "is" if found == before + 2 else "are"
    return f"S{missing[1:]} {is_or_are} missing: the next one is seq {found}"
