"""`post_document`: immediate validation, and a task for the rest."""

import asyncio
import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from tests.support.fake_paperless.call import Call, insufficient, refuse, server_error
from tests.support.fake_paperless.consumer import add_task
from tests.support.fake_paperless.field_values import check_value
from tests.support.fake_paperless.forms import Part, parts_of
from tests.support.fake_paperless.state import State, Upload
from tests.support.fake_paperless.wire import Response

_NO_FILE = "No file was submitted."
_NOT_A_FILE = "The submitted data was not a file. Check the encoding type on the form."
_BAD_DATE = (
    "Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z]."
)
_REFUSED_TYPES = {
    b"PK\x03\x04": "application/zip",
    b"<!doctype html": "text/html",
    b"<html": "text/html",
    b"MZ": "application/x-dosexec",
}
_REFERENCES = {
    "correspondent": "correspondents",
    "document_type": "document_types",
    "storage_path": "storage_paths",
}
_MOST_SERIAL = 4_294_967_295


async def post_document(call: Call) -> Response:
    if not call.user.may("add_document"):
        raise insufficient()
    upload = _upload(call, parts_of(call.request))
    if not call.state.switches.redis:
        await asyncio.sleep(call.state.switches.redis_seconds)
        if call.flavour == 2:
            _stuck_row(call.state, upload)
        return server_error()
    return Response.of_json(accept(call.state, upload))


def accept(state: State, upload: Upload) -> str:
    """Return the id of the task that will consume the file."""
    outcome = None
    if state.outcomes:
        outcome = state.outcomes[0]
        outcome.times -= 1
        if not outcome.times:
            state.outcomes.pop(0)
        outcome = replace(outcome)
    task = add_task(state, upload)
    task.outcome = outcome
    state.unfinished.append(task)
    if outcome and outcome.is_dropped:
        del state.tasks[task.id]
    return task.task_id


def _stuck_row(state: State, upload: Upload) -> None:
    """Leave a row that no worker will take, as 2.x does without Redis."""
    add_task(state, upload)


def _upload(call: Call, parts: Sequence[Part]) -> Upload:
    fields: dict[str, list[str]] = {}
    for part in parts:
        if part.file_name is None and part.name != "document":
            fields.setdefault(part.name, []).append(part.content.decode())
    file = _file([part for part in parts if part.name == "document"])
    last = {name: values[-1] for name, values in fields.items()}
    references = {name: _reference(call, name, kind, last.get(name, "")) for name, kind in _REFERENCES.items()}
    name = unicodedata.normalize("NFC", (file.file_name or "").replace("\\", "/").rpartition("/")[2])
    return Upload(
        name,
        file.content,
        title=last.get("title", "").strip() or None,
        created=_created(call.state, last.get("created", "")),
        tags=_tags(call, fields.get("tags", [])),
        custom_fields=_custom_fields(call, last.get("custom_fields")),
        archive_serial_number=_serial(last.get("archive_serial_number", "")),
        owner=call.user.id,
        **references,
    )


def _file(parts: Sequence[Part]) -> Part:
    if not parts:
        raise refuse(400, {"document": [_NO_FILE]})
    part = parts[-1]
    if part.file_name is None:
        raise refuse(400, {"document": [_NOT_A_FILE]})
    if not part.content:
        raise refuse(400, {"document": ["The submitted file is empty."]})
    for start, kind in _REFUSED_TYPES.items():
        if part.content[:20].lower().startswith(start.lower()):
            raise refuse(400, {"document": [f"File type {kind} not supported"]})
    return part


def _reference(call: Call, field: str, kind: str, text: str) -> int | None:
    """Check that the object exists, not whether the uploader may see it."""
    if not text:
        return None
    if not text.isdecimal():
        raise refuse(400, {field: ["Incorrect type. Expected pk value, received str."]})
    if int(text) not in call.state.of_kind(kind):
        raise refuse(400, {field: [f'Invalid pk "{text}" - object does not exist.']})
    return int(text)


def _tags(call: Call, texts: Sequence[str]) -> list[int]:
    found = [_reference(call, "tags", "tags", text) for text in texts]
    return list(dict.fromkeys(tag for tag in found if tag is not None))


def _created(state: State, text: str) -> str | None:
    """Return a date. A time is converted to the server's time zone first."""
    if not text:
        return None
    try:
        if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
            return date.fromisoformat(text).isoformat()
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        raise refuse(400, {"created": [_BAD_DATE]}) from None
    zone = ZoneInfo(state.switches.time_zone)
    return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(zone).date().isoformat()


def _serial(text: str) -> int | None:
    if not text:
        return None
    if not re.fullmatch(r"-?\d+", text):
        raise refuse(400, {"archive_serial_number": ["A valid integer is required."]})
    if int(text) < 0:
        raise refuse(400, {"archive_serial_number": ["Ensure this value is greater than or equal to 0."]})
    if int(text) > _MOST_SERIAL:
        raise refuse(400, {"archive_serial_number": [f"Ensure this value is less than or equal to {_MOST_SERIAL}."]})
    return int(text)


def _custom_fields(call: Call, text: str | None) -> dict[int, Any]:
    """Parse a map of ids to values, a list of ids, or one id. PATCH uses a list of objects instead."""
    if text is None:
        return {}
    try:
        given = json.loads(text)
    except ValueError:
        raise refuse(400, {"custom_fields": ["Value must be valid JSON."]}) from None
    return _mapped_fields(call, given) if isinstance(given, dict) else _listed_fields(call, given)


def _mapped_fields(call: Call, given: dict[str, Any]) -> dict[int, Any]:
    found = {}
    for key, value in given.items():
        if not key.isdecimal():
            raise refuse(400, {"custom_fields": [f"Custom field id must be an integer: {key}"]})
        field = call.state.of_kind("custom_fields").get(int(key))
        if field is None:
            raise refuse(400, {"custom_fields": [f"Custom field with id {key} does not exist"]})
        if complaint := check_value(field, value):
            raise refuse(400, {"custom_fields": [complaint]})
        found[int(key)] = value
    return found


def _listed_fields(call: Call, given: Any) -> dict[int, Any]:
    ids = given if isinstance(given, list) else [given]
    known = call.state.of_kind("custom_fields")
    if len(set(map(str, ids))) < len(ids) or not all(isinstance(key, int) and key in known for key in ids):
        raise refuse(400, {"custom_fields": ["Some custom fields don't exist or were specified twice."]})
    return dict.fromkeys(ids)
