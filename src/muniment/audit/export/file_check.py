"""Verify an exported audit log offline, line by line, in constant memory."""

import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from muniment.audit.chain_check import ChainCheck, ChainLink, Problem, SealedEvent, StartPosition
from muniment.audit.export.format import FORMAT, ExportFooter
from muniment.audit.hashing import ENVELOPE_FIELDS, genesis_hash
from muniment.audit.heads import Head
from muniment.audit.keys import KeyRing, PublicKey
from muniment.audit.signing import key_id_of
from muniment.errors import Invalid

SEAL_FIELDS = ("kind", "seq", "event_hash", "hash", "salt", "sealed_at", "payload")
PARSE_ERRORS = (ValueError, KeyError, TypeError, AttributeError)


class NotAnExport(Invalid):
    """Not an export of `GET /api/v1/audit/export?format=jsonl`"""


@dataclass(frozen=True)
class FileVerdict:
    chain: UUID
    key_id: str
    """Id of the key that the file names as its own; compare it with `/audit/key` of the installation."""
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
    lines: Iterable[bytes],
    *,
    trusted_key: str | KeyRing | None = None,
    progress: Callable[[int], None] = lambda size: None,
) -> FileVerdict:
    """Verify an export. `trusted_key` is the id or the public key (base64 or hex) that must have signed it, or the keys
    of an installation, of which any may have signed it."""
    walk: _FileCheck | None = None
    for number, line in enumerate(lines, 1):
        if walk is None:
            walk = _start_check(line, trusted_key)
        elif line.strip():
            walk.feed(number, line)
        progress(len(line))
    if walk is None:
        raise NotAnExport
    return walk.finish()


def _start_check(line: bytes, trusted_key: str | KeyRing | None) -> "_FileCheck":
    try:
        header = _parse_line(line)
        if header["kind"] != "header" or header["format"] != FORMAT:
            raise NotAnExport
        return _FileCheck(header, trusted_key)
    except PARSE_ERRORS:
        raise NotAnExport from None


class _FileCheck:
    def __init__(self, header: Mapping[str, Any], trusted_key: str | KeyRing | None) -> None:
        public_key = bytes.fromhex(header["public_key"])
        keys = [PublicKey.from_json(key) for key in header["keys"]]
        start = StartPosition(header["first_seq"] - 1, bytes.fromhex(header["previous_hash"]))
        chain = UUID(header["chain"])
        self._key_id = key_id_of(public_key)
        self._ring = KeyRing(keys, public_key)
        self._footer: ExportFooter | None = None
        self._chain_check = ChainCheck(chain, self._ring, start)
        self._last = ChainLink(start.seq, b"", start.hash)
        if start.seq == 0 and start.hash != genesis_hash(chain):
            self._add_problem("The start of the chain is wrong")
        if trusted_key is not None and not _is_trusted(trusted_key, public_key):
            self._add_problem(f"The file is signed with the key {self._key_id}, not with the one you trust")

    def feed(self, number: int, line: bytes) -> None:
        if self._footer is not None:
            self._add_problem(f"Line {number} comes after the end of the export")
            return
        try:
            values = _parse_line(line)
            {"event": self._check_event, "stub": self._check_stub, "head": self._check_head, "end": self._check_footer}[
                values["kind"]
            ](values)
        except PARSE_ERRORS:
            self._add_problem(f"Line {number} cannot be read")

    def _check_event(self, values: Mapping[str, Any]) -> None:
        if set(values) != {*ENVELOPE_FIELDS, *SEAL_FIELDS}:
            raise ValueError("something that no hash covers")
        envelope = {name: values[name] for name in ENVELOPE_FIELDS}
        sealed = SealedEvent(envelope, values["payload"], bytes.fromhex(values["salt"]), values["sealed_at"])
        self._last = _parse_link(values)
        self._chain_check.check_event(self._last, sealed)

    def _check_stub(self, values: Mapping[str, Any]) -> None:
        self._last = _parse_link(values)
        self._chain_check.check_stub(self._last)

    def _check_head(self, values: Mapping[str, Any]) -> None:
        head = Head.from_json(values)
        self._chain_check.check_head(head, self._last.hash if head.seq == self._last.seq else None)

    def _check_footer(self, values: Mapping[str, Any]) -> None:
        self._footer = end = ExportFooter.from_json(values)
        seen = (self._chain_check.start, self._chain_check.seq, self._last.hash, self._chain_check.events)
        stated = (
            StartPosition(end.first_seq - 1, bytes.fromhex(end.previous_hash)),
            end.last_seq,
            bytes.fromhex(end.hash),
        )
        if not self._ring.verify(end.key_id, end.message(), bytes.fromhex(end.signature)):
            self._add_problem("The signature of the last line is invalid: it was forged or changed")
        elif (str(self._chain_check.chain), *seen) != (end.chain, *stated, end.events):
            self._add_problem("The content does not match the last line: something was added or removed")

    def finish(self) -> FileVerdict:
        check = self._chain_check
        if self._footer is None:
            self._add_problem("The last line is missing: the file was truncated")
        return FileVerdict(
            chain=check.chain,
            key_id=self._key_id,
            events=check.events,
            stubs=check.stubs,
            first_seq=check.start.seq + 1,
            last_seq=check.seq,
            signed_seq=check.signed_seq,
            exported_at=self._footer.exported_at if self._footer else None,
            filters=self._footer.filters if self._footer else {},
            problem_count=check.problem_count,
            problems=check.problems,
        )

    def _add_problem(self, sentence: str) -> None:
        self._chain_check.add_problem(None, sentence)


def _parse_line(line: bytes) -> Mapping[str, Any]:
    values: Mapping[str, Any] = json.loads(line, object_pairs_hook=_reject_duplicate_keys)
    values.items()  # AttributeError for anything but an object
    return values


def _reject_duplicate_keys(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Reject duplicate keys, because one JSON reader would use the first value and another the last."""
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a name stands twice")
    return dict(pairs)


def _parse_link(values: Mapping[str, Any]) -> ChainLink:
    seq = values["seq"]
    if type(seq) is not int or not 0 < seq < 2**63:
        raise ValueError("no number of a link")
    return ChainLink(seq, bytes.fromhex(values["event_hash"]), bytes.fromhex(values["hash"]))


def _is_trusted(trusted: str | KeyRing, public_key: bytes) -> bool:
    if isinstance(trusted, KeyRing):
        return trusted.successors_of(key_id_of(public_key)) is not None
    return trusted.strip() in {key_id_of(public_key), public_key.hex(), *_base64_forms(public_key)}


def _base64_forms(public_key: bytes) -> Iterator[str]:
    for encode in (b64encode, urlsafe_b64encode):
        yield encode(public_key).decode()
        yield encode(public_key).decode().rstrip("=")
