"""Inspect and change the server from a test. Not part of the Paperless API."""

import base64
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from uuid import uuid4

from tests.support.fake_paperless import objects
from tests.support.fake_paperless.consumer import checksum_of, store
from tests.support.fake_paperless.faults import Fault
from tests.support.fake_paperless.outcomes import Outcome
from tests.support.fake_paperless.state import Document, State, Switches, Task, Upload, utc_now

Body = dict[str, Any]


def _add_fault(state: State, body: Body) -> None:
    state.faults.append(Fault(**body))


def _clear_faults(state: State, _: Body) -> None:
    state.faults.clear()
    state.outcomes.clear()


def _add_outcome(state: State, body: Body) -> None:
    state.outcomes.append(Outcome(**body))


def _set_switches(state: State, body: Body) -> None:
    state.switches = replace(state.switches, **body)


def _wipe(state: State, body: Body) -> None:
    """Reset the server to a new installation."""
    vars(state).update(vars(State(Switches(**body))))


def _put_document(state: State, body: Body) -> int:
    is_trashed = body.pop("is_trashed", False)
    fields = {int(key): value for key, value in body.pop("custom_fields", {}).items()}
    upload = Upload(**{**body, "content": base64.b64decode(body["content"]), "custom_fields": fields})
    document = store(state, upload)
    document.deleted_at = utc_now() if is_trashed else None
    return document.id


def _make_thing(state: State, body: Body) -> int:
    return objects.create(state, body["kind"], body["name"], body["owner"], body["values"]).id


def _forget_thing(state: State, body: Body) -> None:
    objects.delete(state, state.of_kind(body["kind"])[body["id"]])


def _add_system_task(state: State, body: Body) -> None:
    """Add a finished task that was never in the queue, as a command of an administrator does on 2.x."""
    now = utc_now()
    task = Task(state.next_id("tasks"), str(uuid4()), Upload("", b""), 0, None, None, "success", created=now, done=now)
    task.name = body["name"]
    state.tasks[task.id] = task


def _forget_tasks(state: State, _: Body) -> None:
    """Delete the task history, as an upgrade from 2.x to 3.x does."""
    state.tasks.clear()


def _lose_queue(state: State, _: Body) -> None:
    """Lose waiting tasks, as a restart of Redis does: their rows stay pending, and no worker takes them."""
    state.unfinished.clear()


def _release(state: State, _: Body) -> None:
    """Let a worker take the tasks that were stuck before they started."""
    for task in state.unfinished:
        task.outcome = None


def _upgrade(state: State, _: Body) -> None:
    """Upgrade from 2.x to 3.x: recompute checksums and delete the task history."""
    state.switches = replace(state.switches, flavour=3, version="", makes_archive=None)
    state.tasks.clear()
    state.unfinished.clear()
    for document in state.documents.values():
        document.checksum = document.sha256
        document.archive_checksum = checksum_of(state, document.archive) if document.archive else None


def _documents(state: State, _: Body) -> list[Body]:
    return [_document(state, document) for document in state.documents.values()]


def _document(state: State, document: Document) -> Body:
    return {
        "id": document.id,
        "title": document.title,
        "created": document.created,
        "sha256": document.sha256,
        "tags": sorted(_name(state, "tags", tag) or "" for tag in document.tags),
        "correspondent": _name(state, "correspondents", document.correspondent),
        "document_type": _name(state, "document_types", document.document_type),
        "custom_fields": {
            _name(state, "custom_fields", field): value for field, value in document.custom_fields.items()
        },
        "file_name": document.original_file_name,
        "owner": document.owner,
        "is_trashed": document.deleted_at is not None,
    }


def _name(state: State, kind: str, key: int | None) -> str | None:
    return None if key is None else state.of_kind(kind)[key].name


def _tasks(state: State, _: Body) -> list[Body]:
    return [
        {
            "task_id": task.task_id,
            "status": task.status,
            "file_name": task.upload.file_name,
            "document_id": task.document_id,
            "message": task.message,
        }
        for task in state.tasks.values()
    ]


def _things(state: State, body: Body) -> list[Body]:
    found = state.of_kind(body["kind"]).values()
    return [{"id": thing.id, "name": thing.name, "owner": thing.owner, "values": thing.values} for thing in found]


def _requests(state: State, _: Body) -> list[Body]:
    return state.requests


def _forget_requests(state: State, _: Body) -> None:
    state.requests.clear()


ACTIONS: Mapping[str, Callable[[State, Body], Any]] = {
    "faults": _add_fault,
    "clear": _clear_faults,
    "outcomes": _add_outcome,
    "switches": _set_switches,
    "wipe": _wipe,
    "documents": _documents,
    "tasks": _tasks,
    "things": _things,
    "requests": _requests,
    "put-document": _put_document,
    "make-thing": _make_thing,
    "forget-thing": _forget_thing,
    "add-system-task": _add_system_task,
    "forget-tasks": _forget_tasks,
    "lose-queue": _lose_queue,
    "release": _release,
    "upgrade": _upgrade,
    "forget-requests": _forget_requests,
}
