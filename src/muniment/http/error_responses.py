"""Add the responses to errors to the OpenAPI document: every status that an operation can return, with its body.

The statuses follow from what an operation does, so that no endpoint has to list them: every one needs a caller, one
with an id in its path may not find it, and one that writes may meet a conflict, a limit or a full disk.
"""

from collections.abc import Mapping, MutableMapping
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel

JSON = "application/json"


class ErrorRead(BaseModel):
    """A sentence that says what happened and what to do."""

    detail: str


class InvalidField(BaseModel):
    """A part of the request that is not valid. `loc` is only `["body"]` if the problem is not a single field."""

    loc: list[str | int]
    msg: str
    type: str


class InvalidRead(BaseModel):
    detail: list[InvalidField]


DESCRIPTIONS: Mapping[int, str] = {
    400: "Not allowed by a rule in the current state, or a malformed request",
    401: "Not signed in",
    403: "Visible to the caller, but not permitted",
    404: "Does not exist, or is not visible to the caller",
    408: "The client stopped sending in the middle of a body",
    409: "Changed by someone else at the same time, or the name is taken",
    413: "Too large",
    415: "Unsupported type",
    416: "The range is outside the file",
    422: "Not valid",
    429: "Too many requests: `Retry-After` says how long to wait",
    500: "An unexpected error, or a stored file that is missing or damaged",
    503: "Temporarily unavailable: `Retry-After` says when to try again",
    507: "Not enough storage space",
}

EVERYWHERE = (400, 401, 403, 413, 422, 500, 503)
WRITING = (404, 408, 409, 429, 507)
WITH_FILE = (415,)
WITHOUT_PATH_PARAMETER = frozenset({"/api/v1/reconcile/latest", "/api/v1/search", "/api/v1/audit/export"})
"""Operations that may find nothing although their path contains no id."""
WRITING_METHODS = frozenset({"post", "put", "patch", "delete"})


def document_errors(app: FastAPI) -> None:
    """Make `/openapi.json` list the responses to errors of every operation."""
    build = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = build()
            _add_components(document)
            for path, operations in document["paths"].items():
                for method, operation in operations.items():
                    _add_responses(path, method, operation)
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # as FastAPI's documentation says


def statuses_of(path: str, method: str, operation: Mapping[str, Any]) -> set[int]:
    """Return the statuses of the errors that an operation can respond with."""
    if not path.startswith("/api/v1"):
        return {400, 500}
    statuses = set(EVERYWHERE)
    if "{" in path or path in WITHOUT_PATH_PARAMETER:
        statuses.add(404)
    if method in WRITING_METHODS:
        statuses.update(WRITING)
    if "multipart/form-data" in operation.get("requestBody", {}).get("content", {}):
        statuses.update(WITH_FILE)
    if path.endswith("/download"):
        statuses.add(416)
    if path.endswith("/image"):
        statuses.update((415, 429))
    if path.endswith("/events"):
        statuses.add(429)
    return statuses


def _add_components(document: MutableMapping[str, Any]) -> None:
    document["components"]["responses"] = {
        f"Error{status}": {"description": description, "content": {JSON: {"schema": _schema_of(status)}}}
        for status, description in DESCRIPTIONS.items()
    }
    schemas = document["components"]["schemas"]
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    for model in (ErrorRead, InvalidField, InvalidRead):
        schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
        schema.pop("$defs", None)
        schemas[model.__name__] = schema


def _add_responses(path: str, method: str, operation: MutableMapping[str, Any]) -> None:
    responses = operation["responses"]
    for status in sorted(statuses_of(path, method, operation)):
        own = responses.get(str(status), {}).get("content", {}).get(JSON, {}).get("schema")
        if own is None or status == 422:
            responses[str(status)] = {"$ref": f"#/components/responses/Error{status}"}
        else:  # a body that a contract fixes, beside the ordinary one
            either = {"anyOf": [own, _schema_of(status)]}
            responses[str(status)] = {"description": DESCRIPTIONS[status], "content": {JSON: {"schema": either}}}


def _schema_of(status: int) -> dict[str, Any]:
    model = InvalidRead if status == 422 else ErrorRead
    return {"$ref": f"#/components/schemas/{model.__name__}"}
