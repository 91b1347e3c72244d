"""The worker of the server. It processes due tasks in order before each request."""

import hashlib
import re
import time
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any
from uuid import uuid4

from tests.support.fake_paperless.outcomes import Outcome
from tests.support.fake_paperless.state import Document, NamedObject, State, Task, Upload, utc_now

_MOST_TITLE = 127
_MOST_NAME_BYTES = 255
_IN_TRASH = " Note: existing document is in the trash."


def work(state: State) -> None:
    """Advance every task to the current time."""
    if not state.unfinished or state.switches.worker == "stopped":
        return
    if state.switches.task_requests and not _finishes_next(state):
        return
    now = time.time()
    if state.switches.task_requests:
        first, *others = state.unfinished
        state.unfinished = ([] if _advance(state, first, now) else [first]) + others
        return
    waiting, state.unfinished = state.unfinished, []
    # What a split file becomes is queued behind everything else.
    state.unfinished = [task for task in waiting if not _advance(state, task, now)] + state.unfinished


def _finishes_next(state: State) -> bool:
    """Return whether this request is the last one for which the first task waits."""
    state.requests_into_task += 1
    if state.requests_into_task < state.switches.task_requests:
        return False
    state.requests_into_task = 0
    return True


def _advance(state: State, task: Task, now: float) -> bool:
    """Return whether the worker is done with the task."""
    stuck = task.outcome.stuck if task.outcome else None
    if stuck == "pending":
        return False
    if task.started is None:
        task.status, task.started = "started", utc_now()
    if stuck == "started" or state.switches.worker == "killed":
        return True  # its worker was killed, and no other one takes it
    if now < task.due_at:
        return False
    if task.document_id is None and task.message is None and task.duplicate_of is None and not task.is_split:
        _take_in(state, task)
    if task.document_id is not None and now < task.due_at + state.switches.task_lag:
        return False
    _finish(task)
    return True


def _finish(task: Task) -> None:
    failed = task.message is not None or task.duplicate_of is not None
    task.status, task.done = ("failure" if failed else "success"), utc_now()


def _take_in(state: State, task: Task) -> None:
    outcome = task.outcome or Outcome()
    if outcome.parts:
        _split(state, task, outcome)
    elif outcome.message is not None:
        _fail(task, outcome.message.replace("{name}", task.upload.file_name), outcome.error_type)
        task.half_written_reads = outcome.half_written_reads
    elif (complaint := _complaint(state, task.upload)) is not None:
        _fail(task, complaint)
    elif (copy := _refused_copy(state, task.upload)) is not None:
        task.duplicate_of, task.is_duplicate_in_trash = copy.id, copy.deleted_at is not None
    else:
        change = b"% changed\n" if outcome.is_altered else b""
        document = store(state, replace(task.upload, content=task.upload.content + change))
        document.owner = state.switches.workflow_owner or document.owner
        task.document_id = document.id


def _split(state: State, task: Task, outcome: Outcome) -> None:
    """Queue the parts: other bytes, but the name and everything else that the upload gave."""
    task.is_split = True
    for number in range(outcome.parts):
        upload = replace(task.upload, content=task.upload.content + f"% part {number}\n%%EOF\n".encode())
        part = add_task(state, upload)
        part.due_at += outcome.parts_delay
        state.unfinished.append(part)


def add_task(state: State, upload: Upload) -> Task:
    state.busy_until = max(time.time(), state.busy_until) + state.switches.task_seconds
    due_at = state.busy_until + state.switches.task_delay
    task = Task(state.next_id("tasks"), str(uuid4()), upload, due_at, None, upload.owner, created=utc_now())
    state.tasks[task.id] = task
    return task


def _fail(task: Task, message: str, error_type: str = "ConsumerError") -> None:
    task.message, task.error_type = message, error_type


def _complaint(state: State, upload: Upload) -> str | None:
    name = upload.file_name
    if mime_type(upload.content) == "application/octet-stream":
        return f"{name}: Unsupported mime type application/octet-stream"
    if len(name.encode()) > _MOST_NAME_BYTES:
        return f"{name}: [Errno 36] File name too long"
    if mime_type(upload.content) == "application/pdf" and b"%%EOF" not in upload.content:
        return f"{name}: Error occurred while consuming document {name}: InputFileError: "
    if upload.archive_serial_number is None:
        return None
    for document in state.documents.values():
        if document.archive_serial_number == upload.archive_serial_number:
            note = _IN_TRASH if document.deleted_at else ""
            return f"{name}: Not consuming {name}: Given ASN {upload.archive_serial_number} already exists!{note}"
    return None


def _refused_copy(state: State, upload: Upload) -> Document | None:
    """Return the document with the same bytes, of any owner, also in the trash. 3.x checks this only if configured."""
    if state.switches.flavour == 3 and not state.switches.delete_duplicates:
        return None
    checksum = checksum_of(state, upload.content)
    for document in state.documents.values():
        if checksum in (document.checksum, document.archive_checksum):
            return document
    return None


def checksum_of(state: State, content: bytes) -> str:
    return (hashlib.md5(content) if state.switches.flavour == 2 else hashlib.sha256(content)).hexdigest()


def mime_type(content: bytes) -> str:
    """Detect the type from the bytes. Neither the name nor the client's header counts."""
    if content.startswith(b"%PDF-"):
        return "application/pdf"
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return "application/octet-stream"
    return "text/plain" if (len(text) > 1 and text.isprintable()) or "\n" in text else "application/octet-stream"


def store(state: State, upload: Upload) -> Document:
    now = utc_now()
    is_pdf = mime_type(upload.content) == "application/pdf"
    archive = upload.content + b"\n% archived as PDF/A\n" if state.switches.makes_archive and is_pdf else None
    document = Document(
        id=state.next_id("documents"),
        content=upload.content,
        checksum=checksum_of(state, upload.content),
        sha256=hashlib.sha256(upload.content).hexdigest(),
        archive=archive,
        archive_checksum=checksum_of(state, archive) if archive else None,
        title=(upload.title or upload.file_name.rpartition(".")[0] or upload.file_name)[:_MOST_TITLE],
        created=upload.created or _first_date(upload.content),
        tags=with_parents(state, upload.tags),
        correspondent=upload.correspondent,
        document_type=upload.document_type,
        storage_path=upload.storage_path,
        custom_fields=dict(upload.custom_fields),
        original_file_name=upload.file_name,
        owner=upload.owner,
        added=now,
        modified=now,
        mime_type=mime_type(upload.content),
        archive_serial_number=upload.archive_serial_number,
    )
    _add_by_rules(state, document)
    state.documents[document.id] = document
    return document


def with_parents(state: State, tags: list[int]) -> list[int]:
    found = list(tags)
    for tag in found:
        known = state.of_kind("tags").get(tag)
        parent = known.values.get("parent") if known else None
        if parent is not None and parent not in found:
            found.append(parent)
    return found


def _first_date(content: bytes) -> str:
    """Return the first date in the text, or today."""
    found = re.search(rb"\b(\d\d)\.(\d\d)\.(\d{4})\b", content)
    try:
        return date(*map(int, reversed(found.groups()))).isoformat() if found else _today()
    except ValueError:
        return _today()


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _add_by_rules(state: State, document: Document) -> None:
    """Add tags by inbox and matching rules. They set correspondent and type only if none was given."""
    text = document.content.decode("latin-1")
    for tag in state.of_kind("tags").values():
        if tag.id not in document.tags and (tag.values.get("is_inbox_tag") or _matches(tag, text)):
            document.tags.append(tag.id)
    for kind, field in (("correspondents", "correspondent"), ("document_types", "document_type")):
        if getattr(document, field) is None:
            setattr(document, field, next((t.id for t in state.of_kind(kind).values() if _matches(t, text)), None))


def _matches(thing: NamedObject, text: str) -> bool:
    match, algorithm = thing.values.get("match", ""), thing.values.get("matching_algorithm", 1)
    if not match or not algorithm:
        return False
    flags = re.IGNORECASE if thing.values.get("is_insensitive", True) else re.NOFLAG
    words: dict[int, Any] = {1: any, 2: all}
    if algorithm in words:
        return bool(words[algorithm](re.search(rf"\b{re.escape(word)}\b", text, flags) for word in match.split()))
    return bool(re.search(match if algorithm == 4 else re.escape(match), text, flags))
