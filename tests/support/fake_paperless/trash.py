"""Deleted documents that can be restored."""

from tests.support.fake_paperless.call import Call, insufficient, refuse
from tests.support.fake_paperless.documents import shown, visible
from tests.support.fake_paperless.paging import paged
from tests.support.fake_paperless.wire import Response


def list_trash(call: Call) -> Response:
    call.demand("view_document")
    call.request.query = {name: values for name, values in call.request.query.items() if name != "fields"}
    found = sorted(visible(call, is_trashed=True), key=lambda document: document.id)
    return paged(call, found, lambda document: shown(call, document), lambda document: document.id)


def restore_or_empty(call: Call) -> Response:
    body = call.json()
    action = body.get("action")
    if action not in ("restore", "empty"):
        raise refuse(400, {"action": [f'"{action}" is not a valid choice.']})
    trashed = {key: document for key, document in call.state.documents.items() if document.deleted_at}
    ids = body.get("documents") or [document.id for document in visible(call, is_trashed=True)]
    if not all(key in trashed for key in ids):
        raise refuse(400, {"documents": ["Some documents in the list have not yet been deleted."]})
    if not all(call.state.is_visible(trashed[key].owner, call.user) for key in ids):
        raise insufficient()
    for key in ids:
        if action == "restore":
            trashed[key].deleted_at = None
        else:
            del call.state.documents[key]
    return Response.of_json({"result": "OK", "doc_ids": ids})
