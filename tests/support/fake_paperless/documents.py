"""A single document: read, change, move to the trash, download."""

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from tests.support.fake_paperless.call import Call, no_such, not_found, refuse
from tests.support.fake_paperless.consumer import with_parents
from tests.support.fake_paperless.field_values import check_value
from tests.support.fake_paperless.filters import predicates
from tests.support.fake_paperless.paging import paged
from tests.support.fake_paperless.state import Document, utc_now
from tests.support.fake_paperless.wire import Response

_REFERENCES = {"correspondent": "correspondents", "document_type": "document_types", "storage_path": "storage_paths"}
_MOST_TITLE = 128


def list_documents(call: Call) -> Response:
    call.demand("view_document")
    tests = predicates(call)
    found = [document for document in visible(call) if all(test(document) for test in tests)]
    found.sort(key=lambda document: (document.created, document.id), reverse=True)
    return paged(call, found, lambda document: shown(call, document), lambda document: document.id)


def get_document(call: Call) -> Response:
    call.demand("view_document")
    return Response.of_json(shown(call, one(call)))


def delete_document(call: Call) -> Response:
    call.demand("delete_document")
    one(call).deleted_at = utc_now()
    return Response(204, content_type=None)


def patch_document(call: Call) -> Response:
    call.demand("change_document")
    document = one(call)
    body = call.json()
    changes = {**_plain(body), **_references(call, body)}
    if "tags" in body:
        changes["tags"] = _tags(call, body["tags"])
    if "custom_fields" in body:
        changes["custom_fields"] = _custom_fields(call, body["custom_fields"])
    for name, value in changes.items():
        setattr(document, name, value)
    document.modified = utc_now()
    return call.unless_redis_is_down(Response.of_json(shown(call, document)))


def download(call: Call) -> Response:
    """Return the archive version if there is one, unless the original is requested."""
    call.demand("view_document")
    document = _with_file(call)
    is_original = call.request.last("original") == "true"
    content = document.content if is_original or document.archive is None else document.archive
    name = f"{document.created} {document.title}.pdf"
    plain = re.sub(r'[^\x20-\x7e]|"', "", name)
    disposition = f"attachment; filename=\"{plain}\"; filename*=utf-8''{quote(name)}"
    return Response(200, content, document.mime_type, {"Content-Disposition": disposition})


def metadata(call: Call) -> Response:
    call.demand("view_document")
    document = _with_file(call)
    archive_name = f"{document.id:07}.pdf" if document.archive else None
    return Response.of_json(
        {
            "original_checksum": document.checksum,
            "original_size": len(document.content),
            "original_mime_type": document.mime_type,
            "media_filename": f"{document.id:07}.pdf",
            "has_archive_version": document.archive is not None,
            "original_metadata": [],
            "archive_checksum": document.archive_checksum,
            "archive_media_filename": archive_name,
            "original_filename": document.original_file_name,
            "archive_size": len(document.archive) if document.archive else None,
            "archive_metadata": [] if document.archive else None,
            "lang": "en",
        }
    )


def next_asn(call: Call) -> Response:
    numbers = [document.archive_serial_number or 0 for document in call.state.documents.values()]
    return Response.of_json(max(numbers, default=0) + 1)


def visible(call: Call, *, is_trashed: bool = False) -> Iterable[Document]:
    for document in call.state.documents.values():
        if (document.deleted_at is not None) == is_trashed and call.state.is_visible(document.owner, call.user):
            yield document


def one(call: Call) -> Document:
    document = call.state.documents.get(call.number)
    if document is None or document.deleted_at or not call.state.is_visible(document.owner, call.user):
        raise no_such("Document")
    return document


def _with_file(call: Call) -> Document:
    document = call.state.documents.get(call.number)
    if document is None or document.deleted_at or not call.state.is_visible(document.owner, call.user):
        raise not_found()
    return document


def shown(call: Call, document: Document) -> dict[str, Any]:
    row = _whole(call, document)
    if fields := call.request.last("fields"):
        wanted = fields.split(",")
        return {name: value for name, value in row.items() if name in wanted}
    return row


def _whole(call: Call, document: Document) -> dict[str, Any]:
    row = {
        "id": document.id,
        "correspondent": document.correspondent,
        "document_type": document.document_type,
        "storage_path": document.storage_path,
        "title": document.title,
        "content": "The text of the document",
        "tags": sorted(document.tags, reverse=True),
        "created": document.created,
        "created_date": document.created,
        "modified": document.modified,
        "added": document.added,
        "deleted_at": document.deleted_at,
        "archive_serial_number": document.archive_serial_number,
        "original_file_name": document.original_file_name,
        "archived_file_name": f"{document.created} {document.title}.pdf" if document.archive else None,
        "owner": document.owner,
        "user_can_change": call.user.is_superuser or document.owner in (None, call.user.id),
        "is_shared_by_requester": False,
        "notes": [],
        "custom_fields": [{"value": value, "field": field} for field, value in document.custom_fields.items()],
        "page_count": 1,
        "mime_type": document.mime_type,
    }
    if call.flavour == 3:
        version = {"id": document.id, "added": document.added, "version_label": None, "is_root": True}
        row |= {"duplicate_documents": _copies(call, document), "root_document": None}
        row["versions"] = [{**version, "checksum": document.checksum}]
    return row


def _copies(call: Call, document: Document) -> list[dict[str, Any]]:
    if "fields" in call.request.query and "duplicate_documents" not in call.request.last("fields"):
        return []
    return [
        {"id": copy.id, "title": copy.title, "deleted_at": copy.deleted_at}
        for copy in call.state.documents.values()
        if copy.checksum == document.checksum and copy.id != document.id
        if call.state.is_visible(copy.owner, call.user)
    ]


def _plain(body: dict[str, Any]) -> dict[str, Any]:
    """Ignore unknown and read-only properties without an error."""
    changes: dict[str, Any] = {name: body[name] for name in ("title", "owner", "archive_serial_number") if name in body}
    if len(changes.get("title") or "") > _MOST_TITLE:
        raise refuse(400, {"title": [f"Ensure this field has no more than {_MOST_TITLE} characters."]})
    if "created" in body:
        changes["created"] = str(body["created"])[:10]
    return changes


def _references(call: Call, body: dict[str, Any]) -> dict[str, Any]:
    changes = {name: body[name] for name in _REFERENCES if name in body}
    for name, key in changes.items():
        if key is not None and key not in call.state.of_kind(_REFERENCES[name]):
            raise refuse(400, {name: [f'Invalid pk "{key}" - object does not exist.']})
    return changes


def _tags(call: Call, given: list[int]) -> list[int]:
    """Return the complete new set: omitted tags are removed."""
    for tag in given:
        if tag not in call.state.of_kind("tags"):
            raise refuse(400, {"tags": [f'Invalid pk "{tag}" - object does not exist.']})
    return with_parents(call.state, list(dict.fromkeys(given)))


def _custom_fields(call: Call, given: Any) -> dict[int, Any]:
    """Return the complete new list: omitted fields are removed. Uploads use a map instead."""
    if not isinstance(given, list):
        problem = f'Expected a list of items but got type "{type(given).__name__}".'
        raise refuse(400, {"custom_fields": {"non_field_errors": [problem]}})
    known = call.state.of_kind("custom_fields")
    for item in given:
        if item["field"] not in known:
            problem = f'Invalid pk "{item["field"]}" - object does not exist.'
            raise refuse(400, {"custom_fields": [{"field": [problem]}]})
        if complaint := check_value(known[item["field"]], item.get("value")):
            raise refuse(400, {"custom_fields": [{"non_field_errors": [complaint]}]})
    return {item["field"]: item.get("value") for item in given}
