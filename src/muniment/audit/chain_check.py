"""Walk an audit chain and collect problems. Pure: the links may come from the database or from an exported file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from muniment.audit.hashing import event_hash, genesis_hash, link_hash, payload_hash
from muniment.audit.heads import Head
from muniment.audit.keys import KeyRing

MAX_PROBLEMS = 100
"""Maximum number of problems that are listed; further ones are only counted."""


@dataclass(frozen=True)
class Problem:
    seq: int | None
    """Position in the chain, or `None` if the problem concerns the whole chain."""
    sentence: str


@dataclass(frozen=True)
class ChainLink:
    """One link of a chain without its event: enough to check the next link."""

    seq: int
    event_hash: bytes
    hash: bytes


@dataclass(frozen=True)
class SealedEvent:
    """An event as users read it, with the data of its seal."""

    envelope: Mapping[str, Any]
    payload: Mapping[str, Any]
    salt: bytes
    sealed_at: str
    payload_hash: bytes | None = None
    """The payload hash stored in the seal, if there is one."""


@dataclass(frozen=True)
class StartPosition:
    """The position before the first link of a walk."""

    seq: int
    hash: bytes

    @classmethod
    def of(cls, chain: UUID) -> "StartPosition":
        return cls(0, genesis_hash(chain))


@dataclass
class ChainCheck:
    """Check of a chain, fed with links and heads in order. `problems` has the result.

    After a broken link the check continues from that link.
    """

    chain: UUID
    ring: KeyRing
    start: StartPosition
    problems: list[Problem] = field(default_factory=list)
    problem_count: int = 0
    events: int = 0
    stubs: int = 0
    signed_seq: int = 0
    """Number of the last link covered by a valid head."""
    signed_at: str | None = None
    signed_by: str | None = None

    def __post_init__(self) -> None:
        self.seq, self._previous = self.start.seq, self.start.hash
        self._key_age: int | None = None

    def check_event(self, position: ChainLink, sealed: SealedEvent) -> None:
        self.events += 1
        digest = payload_hash(sealed.salt, sealed.payload)
        is_as_sealed = event_hash(sealed.envelope, digest, sealed.sealed_at) == position.event_hash
        if not is_as_sealed or sealed.payload_hash not in (None, digest):
            self.add_problem(position.seq, f"The event at seq {position.seq} is not what was sealed: it was changed")
        self._check_link(position)

    def check_stub(self, position: ChainLink) -> None:
        self.stubs += 1
        self._check_link(position)

    def check_missing_event(self, position: ChainLink) -> None:
        """Check a link whose event is missing."""
        self.add_problem(position.seq, f"The event at seq {position.seq} is missing")
        self._check_link(position)

    def check_head(self, head: Head, found: bytes | None) -> None:
        """Check a head.

        `found` is the hash the chain has at the head's number now, or `None` if there is no such link.
        """
        if not self._is_authentic(head):
            return
        if found is None:
            self.add_problem(
                head.seq,
                f"The chain had {head.seq} links when its head was signed at {head.at}, and seq {head.seq} is missing"
                + (": its end was removed" if head.seq > self.seq else ""),
            )
        elif found.hex() != head.hash:
            self.add_problem(
                head.seq, f"The head signed at {head.at} has another hash for seq {head.seq}: the chain was rewritten"
            )
        elif self.signed_seq < head.seq <= self.seq:
            self.signed_seq, self.signed_at, self.signed_by = head.seq, head.at, head.key_id

    def add_problem(self, seq: int | None, sentence: str) -> None:
        self.problem_count += 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(seq, sentence))

    def _check_link(self, position: ChainLink) -> None:
        if position.seq != self.seq + 1:
            self.add_problem(position.seq, _describe_gap(self.seq, position.seq))
        elif position.hash != link_hash(self._previous, position.seq, position.event_hash):
            self.add_problem(
                position.seq,
                f"The link at seq {position.seq} does not follow from the one before it: "
                "something was changed, removed or reordered",
            )
        self.seq, self._previous = position.seq, position.hash

    def _is_authentic(self, head: Head) -> bool:
        age = self.ring.successors_of(head.key_id)
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
            self.add_problem(head.seq, f"The head of seq {head.seq} {problem}")
            return False
        self._key_age = age
        return True


def _describe_gap(before: int, found: int) -> str:
    if found <= before:
        return f"The link at seq {found} comes after seq {before}: the order was changed"
    missing = f"seq {before + 1}" if found == before + 2 else f"seq {before + 1} to {found - 1}"
    is_or_are = "is" if found == before + 2 else "are"
    return f"S{missing[1:]} {is_or_are} missing: the next one is seq {found}"
