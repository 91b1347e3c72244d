"""Verify an exported audit trail offline, line by line, in constant memory."""

import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from muniment.audit.chain_check import Inspection, Link, Problem, Sealed, Start
from muniment.audit.export.format import FORMAT, End
from muniment.audit.hashing import ENVELOPE, beginning_of
from muniment.audit.heads import Head
from muniment.audit.keys import KeyRing, PublicKey
from muniment.audit.signing import key_id_of
from muniment.errors import Invalid

SEAL = ("kind", "seq", "event_hash", "hash", "salt", "sealed_at", "payload")
UNREADABLE = (ValueError, KeyError, TypeError, AttributeError)


class NotAnExport(Invalid):
    """Not an export of `GET /api/v1/audit/export?format=jsonl`"""


@dataclass(frozen=True)
class FileVerdict:
    chain: UUID
    key_id: str
    """Of the key that the file names as its own; compare it with what the installation shows at `/audit/key`."""
    events: int
    stubs: int
    first_seq: int
    last_seq: int
    signed_seq: int
    exported_at: str | None
    filters: Mapping[str, Any]
    problem_count: int
    problems: Sequence[Problem]

    @property
    def is_intact(self) -> bool:
        return self.problem_count == 0


def verify_file(
    lines: Iterable[bytes], *, trusted_key: str | None = None, progress: Callable[[int], None] = lambda size: None
) -> FileVerdict:
    """Walk through the file. `trusted_key` is the id or the public key (base64 or hex) that must have signed it."""
    walk: _FileWalk | None = None
    for number, line in enumerate(lines, 1):
        if walk is None:
            walk = _begin(line, trusted_key)
        elif line.strip():
            walk.take(number, line)
        progress(len(line))
    if walk is None:
        raise NotAnExport
    return walk.finish()


def _begin(line: bytes, trusted_key: str | None) -> "_FileWalk":
    try:
        header = _parsed(line)
        if header["kind"] != "header" or header["format"] != FORMAT:
            raise NotAnExport
        return _FileWalk(header, trusted_key)
    except UNREADABLE:
        raise NotAnExport from None


class _FileWalk:
    def __init__(self, header: Mapping[str, Any], trusted_key: str | None) -> None:
        public_key = bytes.fromhex(header["public_key"])
        keys = [PublicKey.from_json(key) for key in header["keys"]]
        start = Start(header["first_seq"] - 1, bytes.fromhex(header["previous_hash"]))
        chain = UUID(header["chain"])
        self._key_id = key_id_of(public_key)
        self._ring = KeyRing(keys, public_key)
        self._end: End | None = None
        self._inspection = Inspection(chain, self._ring, start)
        self._last = Link(start.seq, b"", start.hash)
        if start.seq == 0 and start.hash != beginning_of(chain):
            self._object("The start of the chain is wrong")
        if trusted_key is not None and not _is_same_key(trusted_key, public_key):
            self._object(f"The file is signed with the key {self._key_id}, not with the one you trust")

    def take(self, number: int, line: bytes) -> None:
        if self._end is not None:
            self._object(f"Line {number} comes after the end of the export")
            return
        try:
            values = _parsed(line)
            {"event": self._event, "stub": self._stub, "head": self._head, "end": self._finish}[values["kind"]](values)
        except UNREADABLE:
            self._object(f"Line {number} cannot be read")

    def _event(self, values: Mapping[str, Any]) -> None:
        if set(values) != {*ENVELOPE, *SEAL}:
            raise ValueError("something that no hash covers")
        envelope = {name: values[name] for name in ENVELOPE}
        sealed = Sealed(envelope, values["payload"], bytes.fromhex(values["salt"]), values["sealed_at"])
        self._last = _link(values)
        self._inspection.take_event(self._last, sealed)

    def _stub(self, values: Mapping[str, Any]) -> None:
        self._last = _link(values)
        self._inspection.take_stub(self._last)

    def _head(self, values: Mapping[str, Any]) -> None:
        head = Head.from_json(values)
        self._inspection.take_head(head, self._last.hash if head.seq == self._last.seq else None)

    def _finish(self, values: Mapping[str, Any]) -> None:
        self._end = end = End.from_json(values)
        seen = (self._inspection.start, self._inspection.seq, self._last.hash, self._inspection.events)
        said = (Start(end.first_seq - 1, bytes.fromhex(end.previous_hash)), end.last_seq, bytes.fromhex(end.hash))
        if not self._ring.verify(end.key_id, end.message(), bytes.fromhex(end.signature)):
            self._object("The signature of the last line is invalid: it was forged or changed")
        elif (str(self._inspection.chain), *seen) != (end.chain, *said, end.events):
            self._object("The content does not match the last line: something was added or removed")

    def finish(self) -> FileVerdict:
        inspection = self._inspection
        if self._end is None:
            self._object("The last line is missing: the file was truncated")
        return FileVerdict(
            chain=inspection.chain,
            key_id=self._key_id,
            events=inspection.events,
            stubs=inspection.stubs,
            first_seq=inspection.start.seq + 1,
            last_seq=inspection.seq,
            signed_seq=inspection.signed_seq,
            exported_at=self._end.exported_at if self._end else None,
            filters=self._end.filters if self._end else {},
            problem_count=inspection.problem_count,
            problems=inspection.problems,
        )

    def _object(self, sentence: str) -> None:
        self._inspection.object_to(None, sentence)


def _parsed(line: bytes) -> Mapping[str, Any]:
    values: Mapping[str, Any] = json.loads(line, object_pairs_hook=_without_twins)
    values.items()  # AttributeError for anything but an object
    return values


def _without_twins(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Of two of one name, one reader sees the first and another the second."""
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a name stands twice")
    return dict(pairs)


def _link(values: Mapping[str, Any]) -> Link:
    seq = values["seq"]
    if type(seq) is not int or not 0 < seq < 2**63:
        raise ValueError("no number of a link")
    return Link(seq, bytes.fromhex(values["event_hash"]), bytes.fromhex(values["hash"]))


def _is_same_key(trusted: str, public_key: bytes) -> bool:
    return trusted.strip() in {key_id_of(public_key), public_key.hex(), *_base64_forms(public_key)}


def _base64_forms(public_key: bytes) -> Iterator[str]:
    for encode in (b64encode, urlsafe_b64encode):
        yield encode(public_key).decode()
        yield encode(public_key).decode().rstrip("=")
