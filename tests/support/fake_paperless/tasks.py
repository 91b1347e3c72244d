"""Task rows in the format of each API version."""

from typing import Any

from tests.support.fake_paperless.call import Call, not_found, refuse
from tests.support.fake_paperless.paging import paged
from tests.support.fake_paperless.state import Task
from tests.support.fake_paperless.wire import Response

_IN_TRASH = " Note: existing document is in the trash."


def list_tasks(call: Call) -> Response:
    call.demand("view_paperlesstask")
    found = [task for task in call.state.tasks.values() if _is_visible(call, task)]
    found = [task for task in reversed(found) if _passes(call, task)]
    if call.api >= 10:
        return paged(call, found, _version_10, lambda task: task.id)
    return Response.of_json([_version_9(call, task) for task in found])


def get_task(call: Call) -> Response:
    call.demand("view_paperlesstask")
    task = call.state.tasks.get(call.number)
    if task is None or not _is_visible(call, task):
        raise not_found()
    return Response.of_json(_version_10(task) if call.api >= 10 else _version_9(call, task))


def acknowledge(call: Call) -> Response:
    call.demand("change_paperlesstask")
    ids = call.json().get("tasks", [])
    if not all(isinstance(key, int) and key in call.state.tasks for key in ids):
        raise refuse(400, {"tasks": ["Some tasks in tasks don't exist or were specified twice."]})
    for key in ids:
        call.state.tasks[key].is_acknowledged = True
    return Response.of_json({"result": len(ids)})


def _is_visible(call: Call, task: Task) -> bool:
    return call.state.is_visible(task.owner, call.user)


def _passes(call: Call, task: Task) -> bool:
    query = call.request.query
    if "task_id" in query and task.task_id != call.request.last("task_id"):
        return False
    if status := call.request.last("status"):
        written = task.status if call.api >= 10 else task.status.upper()
        if status != (status.lower() if call.api >= 10 else status.upper()):
            raise refuse(400, {"status": [f"Select a valid choice. {status} is not one of the available choices."]})
        if status != written:
            return False
    return call.api < 10 or call.request.last("name") in task.upload.file_name


def _message(task: Task) -> str | None:
    """Return the text of the failure, which may appear late."""
    if task.half_written_reads > 0 and task.status == "failure":
        task.half_written_reads -= 1
        return "<traceback object at 0x7f3a5c1e2d40>"
    return task.message


def _version_10(task: Task) -> dict[str, Any]:
    is_shown = task.outcome is None or not task.outcome.is_without_id
    result: dict[str, Any] | None = None
    ids: list[int] = []
    if task.duplicate_of is not None and task.done:
        result = {"duplicate_of": task.duplicate_of, "duplicate_in_trash": task.is_duplicate_in_trash}
        ids = [task.duplicate_of]
    elif task.status == "failure":
        result = {"error_type": task.error_type, "error_message": _message(task), "traceback": "Traceback …"}
    elif task.status == "success":
        result = {"document_id": task.document_id} if is_shown else {"reason": "Barcode splitting complete!"}
        ids = [task.document_id] if is_shown and task.document_id else []
    return {
        "id": task.id,
        "task_id": task.task_id,
        "task_type": task.name,
        "task_type_display": task.name.replace("_", " ").title(),
        "trigger_source": "api_upload",
        "trigger_source_display": "API Upload",
        "status": task.status,
        "status_display": task.status.capitalize(),
        "date_created": task.created,
        "date_started": task.started,
        "date_done": task.done,
        "duration_seconds": 0.35 if task.done else None,
        "wait_time_seconds": 0.02 if task.started else None,
        "input_data": {"filename": task.upload.file_name, "mime_type": "application/pdf"},
        "result_data": result,
        "related_document_ids": ids,
        "acknowledged": task.is_acknowledged,
        "owner": task.owner,
    }


def _version_9(call: Call, task: Task) -> dict[str, Any]:
    result, related = _result_9(call, task)
    row = {
        "id": task.id,
        "task_id": task.task_id,
        "task_name": task.name,
        "task_file_name": task.upload.file_name or None,
        "type": "auto_task" if call.flavour == 2 else "manual_task",
        "status": task.status.upper(),
        "date_created": task.created,
        "date_done": task.done,
        "result": result,
        "acknowledged": task.is_acknowledged,
        # A string on 2.x, which parses it from its own message; a number on 3.x.
        "related_document": str(related) if related is not None and call.flavour == 2 else related,
        "owner": task.owner,
    }
    if call.flavour == 3:
        row["duplicate_documents"] = _copies(call, task)
    return row


def _result_9(call: Call, task: Task) -> tuple[str | None, int | None]:
    if task.duplicate_of is not None and task.done:
        return _duplicate_9(call, task)
    if task.status == "failure":
        return _message(task), None
    if task.status != "success":
        return None, None
    if task.name != "consume_file":
        return "No issues found.", None
    if task.outcome and task.outcome.is_without_id:
        return "Barcode splitting complete!", None
    return f"Success. New document id {task.document_id} created", task.document_id


def _duplicate_9(call: Call, task: Task) -> tuple[str, int | None]:
    if call.flavour == 3:
        return f"Not consuming: It is a duplicate of document #{task.duplicate_of}", task.duplicate_of
    name = task.upload.file_name
    copy = call.state.documents.get(task.duplicate_of or 0)
    text = f"{name}: Not consuming {name}: It is a duplicate of {copy.title if copy else ''} (#{task.duplicate_of})."
    return (text + _IN_TRASH, None) if task.is_duplicate_in_trash else (text, task.duplicate_of)


def _copies(call: Call, task: Task) -> list[dict[str, Any]]:
    copy = call.state.documents.get(task.duplicate_of or 0)
    if copy is None or not task.done or not call.state.is_visible(copy.owner, call.user):
        return []
    return [{"id": copy.id, "title": copy.title, "deleted_at": copy.deleted_at}]
