"""Change single properties of documents without replacing the others."""

from typing import Any

from tests.support.fake_paperless.call import Call, insufficient, refuse
from tests.support.fake_paperless.consumer import with_parents
from tests.support.fake_paperless.state import Document, utc_now
from tests.support.fake_paperless.wire import Response


def bulk_edit(call: Call) -> Response:
    body = call.json()
    documents = _documents(call, body.get("documents", []))
    parameters = body.get("parameters", {})
    match body.get("method"):
        case "modify_tags":
            add, remove = _known(call, "tags", parameters["add_tags"]), parameters["remove_tags"]
            for document in documents:
                document.tags = [tag for tag in with_parents(call.state, [*document.tags, *add]) if tag not in remove]
                document.tags = list(dict.fromkeys(document.tags))
        case "add_tag":
            for document in documents:
                document.tags = list(dict.fromkeys([*document.tags, *_known(call, "tags", [parameters["tag"]])]))
        case "modify_custom_fields":
            _modify_fields(call, documents, parameters)
        case "delete":
            for document in documents:
                document.deleted_at = utc_now()
        case method:
            raise refuse(400, {"method": [f"Unsupported method {method}."]})
    return call.unless_redis_is_down(Response.of_json({"result": "OK"}))


def _documents(call: Call, ids: list[int]) -> list[Document]:
    live = {key: document for key, document in call.state.documents.items() if document.deleted_at is None}
    if len(set(ids)) < len(ids) or not all(key in live for key in ids):
        raise refuse(400, {"documents": ["Some documents in documents don't exist or were specified twice."]})
    documents = [live[key] for key in ids]
    if not call.user.may("change_document"):
        raise insufficient()
    if not all(call.state.is_visible(document.owner, call.user) for document in documents):
        raise insufficient()
    return documents


def _known(call: Call, kind: str, ids: list[int]) -> list[int]:
    if not all(key in call.state.of_kind(kind) for key in ids):
        raise refuse(400, {"non_field_errors": ["Tag does not exist"]})
    return ids


def _modify_fields(call: Call, documents: list[Document], parameters: dict[str, Any]) -> None:
    given = parameters["add_custom_fields"]
    values = given if isinstance(given, dict) else dict.fromkeys(given)
    if not all(int(key) in call.state.of_kind("custom_fields") for key in values):
        raise refuse(400, {"non_field_errors": ["Custom field does not exist"]})
    for document in documents:
        document.custom_fields |= {int(key): value for key, value in values.items()}
        for key in parameters["remove_custom_fields"]:
            document.custom_fields.pop(key, None)
