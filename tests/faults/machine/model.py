"""Minimal model of the lifecycle specification: users, documents, and the effect of each move.

Nothing is imported from the source: rules, messages and name comparison are implemented a second time.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import UUID

Body = Mapping[str, Any]

OURS, THEIRS = "ours", "theirs"
PEOPLE = ("owner", "admin", "editor", "viewer", "stranger")
ACCESS_LEVELS = {
    OURS: {"owner": "owner", "admin": "admin", "editor": "editor", "viewer": "viewer"},
    THEIRS: {"admin": "admin", "editor": "owner", "viewer": "editor"},
}
"""The owner of one knowledge base has no role in the other one, whose owner is an editor of the first."""
MANAGERS, UPLOADERS = ("owner", "admin"), ("owner", "admin", "editor")

TWINS = {
    "report": ("report.txt", "REPORT.TXT"),
    "strasse": ("Straße.txt", "STRASSE.TXT"),
    "cafe": ("caf\N{LATIN SMALL LETTER E WITH ACUTE}.txt", "Cafe\N{COMBINING ACUTE ACCENT}.txt"),
    "plan": ("plan.txt",),
    "note": ("note.txt",),
}
"""Names that are equal after folding."""
KEYS = {name: key for key, names in TWINS.items() for name in names}
NAMES = tuple(KEYS)

PENDING, PROCESSING, COMPLETED, FAILED, ARCHIVED = "pending", "processing", "completed", "failed", "archived"
ACTIVE = (PENDING, PROCESSING, COMPLETED)
MOST_DEATHS = 3
CANCELLED = "Processing cancelled by user"
UNREADABLE = "The file is protected by a password."
TOO_LARGE = "This file needs too much memory to process. Split it or save it in a simpler format."


@dataclass(frozen=True)
class Content:
    word: str
    is_readable: bool = True

    @property
    def text(self) -> str:
        return f"Contracts about {self.word}."

    @property
    def bytes(self) -> bytes:
        return (self.text if self.is_readable else f"Locked away: {self.word}.").encode()


CONTENTS = tuple(Content(word) for word in ("apples", "bridges", "clocks", "dragons"))
LOCKED = tuple(Content(word, is_readable=False) for word in ("secrets", "riddles"))


@dataclass(eq=False)
class Run:
    is_reread: bool = False
    attempt: int = 0
    deaths: int = 0
    is_begun: bool = False


@dataclass(frozen=True)
class Snapshot:
    """The state to which a replaced document can be reverted."""

    name: str
    content: Content
    status: str
    revision: int


@dataclass(frozen=True)
class FailedReplacement:
    name: str
    content: Content


@dataclass(eq=False)
class Document:
    id: UUID
    kb: str
    name: str
    content: Content
    status: str = PENDING
    epoch: int = 1
    """Incremented by every move after which writes of older workers must be rejected."""
    revision: int = 1
    newest_revision: int = 1
    was_complete: bool = False
    last_error: str | None = None
    run: Run | None = field(default_factory=Run)
    snapshot: Snapshot | None = None
    failed: "FailedReplacement | None" = None
    """The replacement that could not be read, after the automatic revert."""
    ending: str | None = None
    """The move that deleted it."""
    is_proven: bool = False
    """Whether its receipt is signed."""
    receipt_id: str | None = None
    is_littered: bool = False
    """Whether a process crashed during an upload for it: objects may remain until the sweep."""
    lines: Counter[str] = field(default_factory=Counter)

    def __repr__(self) -> str:
        return f"<{self.name} {self.id.hex[-4:]} in {self.kb}, {self.ending or self.status}>"

    def _repr_pretty_(self, printer: Any, _is_cycle: bool) -> None:
        """Print a short form in failing examples."""
        printer.text(repr(self))

    @property
    def is_there(self) -> bool:
        return self.ending is None

    @property
    def is_given_up(self) -> bool:
        """Return whether so many workers crashed on it that no other one tries."""
        return self.run is not None and self.run.deaths + self.run.is_begun >= MOST_DEATHS


@dataclass(frozen=True)
class Claim:
    """A worker's claim of a run."""

    document: Document
    run: Run
    attempt: int

    @property
    def holds(self) -> bool:
        return self.document.run is self.run and self.run.attempt == self.attempt


@dataclass(frozen=True)
class Expected:
    """Expected response, and the change to the documents if it is given."""

    status: int
    body: Body
    """The whole body of an error; the required part of a successful one."""
    effect: Callable[[Body], None] | None = None
    touched: Sequence[Document] = ()
    may_be_pending: bool = False
    """Deleted, but possibly not proven yet: the store may hold an unexpected object."""

    @property
    def is_refusal(self) -> bool:
        return self.status >= 400


def refused(status: int, detail: str) -> Expected:
    return Expected(status, {"detail": detail})


DENIED = refused(403, "Permission denied")
NO_DOCUMENT = refused(404, "Document not found")
NO_KB = refused(404, "Knowledge base not found")


class Model:
    def __init__(self) -> None:
        self.documents: list[Document] = []

    def access_level(self, who: str, kb: str) -> str | None:
        return ACCESS_LEVELS[kb].get(who)

    def there(self, *kbs: str) -> list[Document]:
        """Return the existing documents of these knowledge bases, or of all."""
        return [document for document in self.documents if document.kb in (kbs or ACCESS_LEVELS) and document.is_there]

    def waiting(self) -> list[Document]:
        return [document for document in self.documents if document.run]

    def drawn(self, statuses: Sequence[str]) -> list[Document]:
        """Return all present and past documents, weighted so that half of the draws have one of these statuses."""
        fitting = [one for one in self.documents if one.is_there and one.status in statuses]
        return [*fitting * (len(self.documents) // len(fitting) if fitting else 0), *self.documents]

    # What users see.

    def listed(self, who: str, kb: str) -> dict[UUID, Document] | None:
        """Return None if the user does not see the knowledge base."""
        return None if self.access_level(who, kb) is None else {document.id: document for document in self.there(kb)}

    def archived(self, who: str) -> set[UUID]:
        kbs = [kb for kb in ACCESS_LEVELS if self.access_level(who, kb) in MANAGERS]
        return {document.id for kb in kbs for document in self.there(kb) if document.status == ARCHIVED}

    def found(self, who: str) -> dict[UUID, Content]:
        kbs = [kb for kb in ACCESS_LEVELS if self.access_level(who, kb)]
        return {one.id: one.content for kb in kbs for one in self.there(kb) if one.status == COMPLETED}

    # What users do.

    def _refusal(self, who: str, kb: str, document: Document, may: Sequence[str] = MANAGERS) -> Expected | None:
        standing = self.access_level(who, kb)
        if standing is None:
            return NO_DOCUMENT
        if standing not in may:
            return DENIED
        return None if document.is_there and document.kb == kb else NO_DOCUMENT

    def _namesakes(self, kb: str, name: str, besides: Document | None = None) -> list[Document]:
        return [one for one in self.there(kb) if KEYS[one.name] == KEYS[name] and one is not besides]

    def _duplicate(self, namesakes: Sequence[Document]) -> Expected | None:
        """Prefer active duplicates, then archived ones, then failed ones that were complete before."""
        for is_in_the_way in (_is_active, _is_archived, _has_failed_after_all):
            if in_the_way := [one for one in namesakes if is_in_the_way(one)]:
                return _taken(in_the_way)
        return None

    def upload(self, who: str, kb: str, name: str, content: Content) -> Expected:
        standing = self.access_level(who, kb)
        if standing is None:
            return NO_KB
        if standing not in UPLOADERS:
            return DENIED
        namesakes = self._namesakes(kb, name)
        if taken := self._duplicate(namesakes):
            return taken

        def effect(body: Body) -> None:
            document = Document(UUID(body["id"]), kb, name, content)
            document.lines["document_uploaded"] += 1
            self.documents.append(document)
            for twin in namesakes:
                _end(twin, "auto_clear", "document_auto_cleared")

        body: dict[str, Any] = {"name": name, "status": PENDING, "revision": 1}
        if namesakes:
            body["message"] = "Previous failed upload was automatically cleared"
        return Expected(201, body, effect, namesakes)

    def archive(self, who: str, kb: str, document: Document) -> Expected:
        if no := self._refusal(who, kb, document):
            return no
        if document.status == ARCHIVED:
            return refused(400, "Document is already archived")
        if document.status != COMPLETED:
            return refused(400, "Only completed documents can be archived")
        return _moved(document, ARCHIVED, "document_archived")

    def restore(self, who: str, kb: str, document: Document) -> Expected:
        if no := self._refusal(who, kb, document):
            return no
        if document.status != ARCHIVED:
            return refused(400, "Only archived documents can be restored")
        if any(map(_is_active, self._namesakes(kb, document.name, document))):
            return refused(409, "Cannot restore: a document with this name already exists")
        return _moved(document, COMPLETED, "document_restored")

    def cancel(self, who: str, kb: str, document: Document) -> Expected:
        if no := self._refusal(who, kb, document):
            return no
        if document.status not in (PENDING, PROCESSING):
            return refused(400, "Only PROCESSING or PENDING documents can be cancelled")

        def effect(_: Body) -> None:
            document.status, document.run, document.last_error = FAILED, None, CANCELLED
            document.epoch += 1
            document.lines["document_cancelled"] += 1

        return Expected(200, {"message": "Document processing cancelled"}, effect, [document])

    def retry(self, who: str, kb: str, document: Document) -> Expected:
        if no := self._refusal(who, kb, document, UPLOADERS):
            return no
        if document.status not in (FAILED, COMPLETED):
            return refused(400, "Only failed or completed documents can be retried")
        active = [one for one in self._namesakes(kb, document.name, document) if _is_active(one)]
        if document.status == FAILED and active:
            return _taken(active)

        def effect(_: Body) -> None:
            document.run = Run(is_reread=document.status == COMPLETED)
            document.epoch += 1
            document.status = COMPLETED if document.run.is_reread else PENDING
            document.last_error = None
            document.lines["document_retried"] += 1

        reached = COMPLETED if document.status == COMPLETED else PENDING
        return Expected(200, {"id": str(document.id), "status": reached}, effect, [document])

    def replace(self, who: str, kb: str, document: Document, name: str, content: Content) -> Expected:
        if no := self._refusal(who, kb, document):
            return no
        if document.status == PROCESSING:
            return refused(400, "Cannot replace document while processing is in progress")
        namesakes = self._namesakes(kb, name, document)
        if taken := self._duplicate(namesakes):
            return taken

        def effect(_: Body) -> None:
            _replace_content(document, name, content)
            for twin in namesakes:
                _end(twin, "auto_clear", "document_auto_cleared")

        message = "Document replaced and queued for processing"
        body = {"id": str(document.id), "name": name, "status": PENDING, "message": message}
        return Expected(200, body, effect, [document, *namesakes])

    def revert(self, who: str, kb: str, document: Document) -> Expected:
        if no := self._refusal(who, kb, document):
            return no
        if document.status != FAILED:
            return refused(400, "Only a failed replacement can be reverted")
        snapshot = document.snapshot
        if snapshot is None:
            return refused(400, "There is no previous version to revert to")
        if taken := self._duplicate(self._namesakes(kb, snapshot.name, document)):
            return taken

        def effect(_: Body) -> None:
            _go_back(document, snapshot)

        return Expected(
            200, {"id": str(document.id), "name": snapshot.name, "status": snapshot.status}, effect, [document]
        )

    def retry_replacement(self, who: str, kb: str, document: Document) -> Expected:
        if no := self._refusal(who, kb, document):
            return no
        failed = document.failed
        if failed is None:
            return refused(400, "There is no failed replacement")
        namesakes = self._namesakes(kb, failed.name, document)
        if taken := self._duplicate(namesakes):
            return taken

        def effect(_: Body) -> None:
            _replace_content(document, failed.name, failed.content)
            for twin in namesakes:
                _end(twin, "auto_clear", "document_auto_cleared")

        body = {"id": str(document.id), "name": failed.name, "status": PENDING, "failed_replacement": None}
        return Expected(200, body, effect, [document, *namesakes])

    def discard_replacement(self, who: str, kb: str, document: Document) -> Expected:
        if no := self._refusal(who, kb, document):
            return no
        if document.failed is None:
            return refused(400, "There is no failed replacement")

        def effect(_: Body) -> None:
            document.failed = None
            document.lines["failed_replacement_deleted"] += 1

        return Expected(200, {"message": "Failed replacement deleted"}, effect, [document])

    def purge(self, who: str, kb: str, document: Document) -> Expected:
        return self._remove(who, kb, document, _PURGE)

    def clear(self, who: str, kb: str, document: Document) -> Expected:
        return self._remove(who, kb, document, _CLEAR)

    def _remove(self, who: str, kb: str, document: Document, removal: "_Removal") -> Expected:
        standing, is_here = self.access_level(who, kb), document.is_there and document.kb == kb
        if standing not in MANAGERS:
            return DENIED if standing and is_here else NO_DOCUMENT
        if not is_here:
            return self._answer_again(kb, document, removal)
        if document.status != removal.status:
            return refused(400, removal.refusals.get(document.status, removal.refusal))
        effect = partial(_end, document, removal.ending, removal.line)
        return Expected(200, {"message": removal.message}, effect, [document], document.is_littered)

    def _answer_again(self, kb: str, document: Document, removal: "_Removal") -> Expected:
        """Answer a repeated deletion: users who were allowed to delete the document are told that it is deleted."""
        if document.kb != kb or document.ending not in removal.answered:
            return NO_DOCUMENT
        body = {"message": removal.message}
        if document.receipt_id:
            body["receipt_id"] = document.receipt_id
        return Expected(200, body, partial(_prove, document), may_be_pending=document.is_littered)

    def bulk_purge(self, who: str, kb: str, documents: Sequence[Document]) -> Expected:
        wanted = list(dict.fromkeys(documents))
        each = {one: self.purge(who, kb, one) for one in wanted}
        skipped = [str(one.id) for one in wanted if each[one].is_refusal]
        body = _bulk_body("purged", len(wanted), skipped, "not archived")
        return self._bulk(who, kb, each, {**body, "pending_ids": [], "failed_ids": []})

    def bulk_archive(self, who: str, kb: str, documents: Sequence[Document]) -> Expected:
        wanted = list(dict.fromkeys(documents))
        each = {one: self.archive(who, kb, one) for one in wanted}
        skipped = [str(one.id) for one in wanted if each[one].is_refusal]
        return self._bulk(who, kb, each, _bulk_body("archived", len(wanted), skipped, "not completed"))

    def _bulk(self, who: str, kb: str, each: Mapping[Document, Expected], body: Body) -> Expected:
        standing = self.access_level(who, kb)
        if standing not in MANAGERS:
            return NO_KB if standing is None else DENIED

        def effect(_: Body) -> None:
            for one in each.values():
                if one.effect:
                    one.effect({"message": "one of several"})

        return Expected(200, body, effect, [one for one, answer in each.items() if not answer.is_refusal])

    # What workers and sweeps do.

    def begin(self, document: Document) -> Claim:
        """Claim the run for a worker, taking it over from a crashed one if necessary."""
        run = _run_of(document)
        run.deaths += run.is_begun
        run.attempt, run.is_begun = run.attempt + 1, True
        if not run.is_reread:
            document.status = PROCESSING
        return Claim(document, run, run.attempt)

    def finish(self, document: Document) -> None:
        """Complete the run with one worker."""
        if document.is_given_up:
            self._fail(document, TOO_LARGE)
        elif document.content.is_readable:
            self._complete(document)
        else:
            self._fail(document, UNREADABLE)

    def go_on(self, claim: Claim) -> None:
        """Continue an overtaken worker, which can write nothing."""
        if not claim.holds:
            return
        if claim.document.content.is_readable:
            self._complete(claim.document)
        else:
            self._fail(claim.document, UNREADABLE)

    def _complete(self, document: Document) -> None:
        run, document.run = _run_of(document), None
        if not run.is_reread:
            document.status, document.was_complete, document.snapshot = COMPLETED, True, None
            document.last_error = None

    def _fail(self, document: Document, error: str) -> None:
        run, document.run = _run_of(document), None
        if run.is_reread:
            return
        snapshot = document.snapshot
        if snapshot is None or self._duplicate(self._namesakes(document.kb, snapshot.name, document)):
            document.status, document.last_error = FAILED, error
            return
        document.failed = FailedReplacement(document.name, document.content)
        _go_back(document, snapshot)

    def sweep(self) -> None:
        for document in self.documents:
            document.is_proven, document.is_littered = not document.is_there, False


@dataclass(frozen=True)
class _Removal:
    status: str
    ending: str
    line: str
    message: str
    refusal: str
    answered: Sequence[str]
    refusals: Mapping[str, str] = field(default_factory=dict)


_PURGE = _Removal(
    ARCHIVED,
    "purge",
    "document_purged",
    "Document permanently deleted",
    "Only archived documents can be purged",
    ["purge"],
)
_CLEAR = _Removal(
    FAILED,
    "clear",
    "document_cleared",
    "Failed document cleared",
    "Only failed documents can be cleared",
    ["clear", "auto_clear"],
    {PROCESSING: "Cannot clear document while processing is in progress"},
)


def _is_active(document: Document) -> bool:
    return document.status in ACTIVE


def _is_archived(document: Document) -> bool:
    return document.status == ARCHIVED


def _has_failed_after_all(document: Document) -> bool:
    return document.status == FAILED and document.was_complete


def _taken(in_the_way: Sequence[Document]) -> Expected:
    """Name the oldest of several conflicting documents."""
    first = min(in_the_way, key=lambda one: one.id)
    message = "A document with this name already exists"
    if first.status == ARCHIVED:
        message = "An archived document with this name exists"
    body = {
        "error": "duplicate_document",
        "existing_document_id": str(first.id),
        "existing_status": first.status,
        "message": message,
    }
    return Expected(409, body)


def _moved(document: Document, reached: str, line: str) -> Expected:
    def effect(_: Body) -> None:
        document.status, document.run = reached, None
        document.epoch += reached == ARCHIVED
        document.lines[line] += 1

    return Expected(200, {"id": str(document.id), "name": document.name, "status": reached}, effect, [document])


def _go_back(document: Document, snapshot: Snapshot) -> None:
    document.name, document.content, document.status = snapshot.name, snapshot.content, snapshot.status
    document.revision, document.snapshot, document.last_error, document.run = snapshot.revision, None, None, None
    document.epoch += 1
    document.lines["document_reverted"] += 1


def _replace_content(document: Document, name: str, content: Content) -> None:
    document.failed = None
    if document.status in (COMPLETED, ARCHIVED):
        document.snapshot = Snapshot(document.name, document.content, document.status, document.revision)
    document.newest_revision += 1
    document.epoch += 1
    document.revision = document.newest_revision
    document.name, document.content, document.status = name, content, PENDING
    document.last_error, document.run = None, Run()
    document.lines["document_replaced"] += 1


def _end(document: Document, ending: str, line: str, body: Body | None = None) -> None:
    """Delete the document. The receipt is signed if the caller got a response; otherwise the sweep signs it."""
    document.ending, document.run = ending, None
    document.lines[line] += 1
    if body is not None:
        _prove(document, body)


def _prove(document: Document, body: Body) -> None:
    document.is_proven = document.is_proven or "message" in body
    document.receipt_id = body.get("receipt_id") or document.receipt_id


def _bulk_body(done: str, wanted: int, skipped: Sequence[str], why: str) -> dict[str, Any]:
    number = wanted - len(skipped)
    message = f"{number} document{'' if number == 1 else 's'} {done}"
    if skipped:
        message += f", {len(skipped)} skipped ({why})"
    return {done: number, "skipped": len(skipped), "skipped_ids": list(skipped), "message": message}


def _run_of(document: Document) -> Run:
    assert document.run is not None
    return document.run
