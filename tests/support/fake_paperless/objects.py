"""Tags, correspondents, document types, storage paths and custom fields."""

import re
from collections.abc import Callable
from typing import Any

from tests.support.fake_paperless.call import Call, no_such, refuse
from tests.support.fake_paperless.paging import page_of
from tests.support.fake_paperless.state import NamedObject, State
from tests.support.fake_paperless.wire import Response

KINDS = ("tags", "correspondents", "document_types", "storage_paths", "custom_fields")
_PERMISSION = {
    "tags": "tag",
    "correspondents": "correspondent",
    "document_types": "documenttype",
    "storage_paths": "storagepath",
    "custom_fields": "customfield",
}
_SINGULAR = {
    "tags": "Tag",
    "correspondents": "Correspondent",
    "document_types": "DocumentType",
    "storage_paths": "StoragePath",
    "custom_fields": "CustomField",
}
_VERBOSE = {
    "tags": "tag",
    "correspondents": "correspondent",
    "document_types": "document type",
    "storage_paths": "storage path",
    "custom_fields": "custom field",
}
_DATA_TYPES = ("string", "url", "date", "boolean", "integer", "float", "monetary", "documentlink", "select", "longtext")
_MOST_CHARACTERS = 128


def list_objects(kind: str) -> Callable[[Call], Response]:
    def handle(call: Call) -> Response:
        call.demand(f"view_{_PERMISSION[kind]}")
        found = [thing for thing in call.state.of_kind(kind).values() if _is_visible(call, thing)]
        found = [thing for thing in found if _passes(call, thing)]
        found.sort(key=lambda thing: (thing.name.lower(), thing.id))
        page = page_of(call, found, lambda thing: _show_row(call, thing), lambda thing: thing.id)
        if kind == "tags" and call.flavour == 3:
            page["display_count"] = page["count"]
        return Response.of_json(page)

    return handle


def get_object(kind: str) -> Callable[[Call], Response]:
    def handle(call: Call) -> Response:
        call.demand(f"view_{_PERMISSION[kind]}")
        return Response.of_json(show(call, _one(call, kind)))

    return handle


def delete_object(kind: str) -> Callable[[Call], Response]:
    def handle(call: Call) -> Response:
        call.demand(f"delete_{_PERMISSION[kind]}")
        delete(call.state, _one(call, kind))
        return Response(204, content_type=None)

    return handle


def create_object_handler(kind: str) -> Callable[[Call], Response]:
    def handle(call: Call) -> Response:
        call.demand(f"add_{_PERMISSION[kind]}")
        body = call.json()
        name = _name(body)
        owner = None if kind == "custom_fields" else body.get("owner", call.user.id)
        if kind == "custom_fields" and body.get("data_type") not in _DATA_TYPES:
            raise refuse(400, {"data_type": [f'"{body.get("data_type")}" is not a valid choice.']})
        _refuse_collision(call.state, kind, name, owner)
        thing = create(call.state, kind, name, owner, body)
        return call.unless_redis_is_down(Response.of_json(show(call, thing), 201))

    return handle


def create(state: State, kind: str, name: str, owner: int | None, values: dict[str, Any]) -> NamedObject:
    thing = NamedObject(state.next_id(kind), kind, name, owner, dict(values))
    state.of_kind(kind)[thing.id] = thing
    return thing


def delete(state: State, thing: NamedObject) -> None:
    """Delete the object and its references in documents."""
    del state.of_kind(thing.kind)[thing.id]
    reference = {"correspondents": "correspondent", "document_types": "document_type", "storage_paths": "storage_path"}
    for document in state.documents.values():
        if thing.kind == "tags" and thing.id in document.tags:
            document.tags.remove(thing.id)
        elif thing.kind == "custom_fields":
            document.custom_fields.pop(thing.id, None)
        elif thing.kind in reference and getattr(document, reference[thing.kind]) == thing.id:
            setattr(document, reference[thing.kind], None)


def show(call: Call, thing: NamedObject) -> dict[str, Any]:
    values = thing.values
    if thing.kind == "custom_fields":
        return {"id": thing.id, "name": thing.name, "data_type": values["data_type"], "extra_data": None}
    row = {
        "id": thing.id,
        "slug": re.sub(r"[^a-z0-9]+", "-", thing.name.lower()).strip("-"),
        "name": thing.name,
        "match": values.get("match", ""),
        "matching_algorithm": values.get("matching_algorithm", 1),
        "is_insensitive": values.get("is_insensitive", True),
        "owner": thing.owner,
        "user_can_change": call.user.is_superuser or thing.owner in (None, call.user.id),
    }
    if thing.kind == "tags":
        row |= {"color": "#a6cee3", "text_color": "#000000", "is_inbox_tag": bool(values.get("is_inbox_tag"))}
        row |= {"parent": values.get("parent"), "children": []}
    return row


def _show_row(call: Call, thing: NamedObject) -> dict[str, Any]:
    return {**show(call, thing), "document_count": 0}


def _one(call: Call, kind: str) -> NamedObject:
    thing = call.state.of_kind(kind).get(call.number)
    if thing is None or not _is_visible(call, thing):
        raise no_such(_SINGULAR[kind])
    return thing


def _is_visible(call: Call, thing: NamedObject) -> bool:
    return call.state.is_visible(thing.owner, call.user)


def _fold(text: str) -> str:
    """Fold case like SQLite: only ASCII letters."""
    return "".join(letter.lower() if letter.isascii() else letter for letter in text)


def _passes(call: Call, thing: NamedObject) -> bool:
    """Return whether the object passes the known filters. All others are ignored without an error."""
    name = _fold(thing.name)
    filters: dict[str, Callable[[str], bool]] = {
        "name__iexact": lambda value: name == _fold(value),
        "name__icontains": lambda value: _fold(value) in name,
        "name__istartswith": lambda value: name.startswith(_fold(value)),
        "id__in": lambda value: str(thing.id) in value.split(","),
    }
    given = {field: call.request.last(field) for field in filters if field in call.request.query}
    return all(filters[field](value) for field, value in given.items() if value)


def _name(body: dict[str, Any]) -> str:
    if "name" not in body:
        raise refuse(400, {"name": ["This field is required."]})
    if body["name"] is None:
        raise refuse(400, {"name": ["This field may not be null."]})
    name = str(body["name"]).strip()
    if not name:
        raise refuse(400, {"name": ["This field may not be blank."]})
    if len(name) > _MOST_CHARACTERS:
        raise refuse(400, {"name": [f"Ensure this field has no more than {_MOST_CHARACTERS} characters."]})
    return name


def _refuse_collision(state: State, kind: str, name: str, owner: int | None) -> None:
    owners = {thing.owner for thing in state.of_kind(kind).values() if thing.name == name}
    if None in owners:
        raise refuse(400, {"name": [f"{_VERBOSE[kind]} with this name already exists."]})
    if owner in owners:
        raise refuse(400, {"error": "Object violates owner / name unique constraint"})
