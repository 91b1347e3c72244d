"""Names of the calls by path, used to select faults and seen requests."""

import inspect
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tests.support.fake_paperless import account, bulk_edit, documents, objects, tasks, trash, uploads
from tests.support.fake_paperless.call import Call
from tests.support.fake_paperless.wire import Response

Handler = Callable[[Call], Response | Awaitable[Response]]


@dataclass(frozen=True)
class Route:
    pattern: re.Pattern[str]
    methods: dict[str, tuple[str, Handler]]


def _route(path: str, **methods: tuple[str, Handler]) -> Route:
    return Route(re.compile(path.replace("{key}", "([^/]+)")), methods)


def _of_kind(kind: str) -> list[Route]:
    return [
        _route(
            f"/api/{kind}/",
            GET=(f"{kind}.list", objects.list_objects(kind)),
            POST=(f"{kind}.make", objects.create_object_handler(kind)),
        ),
        _route(
            f"/api/{kind}/{{key}}/",
            GET=(f"{kind}.get", objects.get_object(kind)),
            DELETE=(f"{kind}.delete", objects.delete_object(kind)),
        ),
    ]


ROUTES = [
    _route("/api/documents/", GET=("documents.list", documents.list_documents)),
    _route("/api/documents/post_document/", POST=("upload", uploads.post_document)),
    _route("/api/documents/bulk_edit/", POST=("documents.bulk_edit", bulk_edit.bulk_edit)),
    _route("/api/documents/next_asn/", GET=("documents.next_asn", documents.next_asn)),
    _route(
        "/api/documents/{key}/",
        GET=("documents.get", documents.get_document),
        PATCH=("documents.patch", documents.patch_document),
        DELETE=("documents.delete", documents.delete_document),
    ),
    _route("/api/documents/{key}/download/", GET=("documents.download", documents.download)),
    _route("/api/documents/{key}/metadata/", GET=("documents.metadata", documents.metadata)),
    _route("/api/tasks/", GET=("tasks.list", tasks.list_tasks)),
    _route("/api/tasks/acknowledge/", POST=("tasks.acknowledge", tasks.acknowledge)),
    _route("/api/tasks/{key}/", GET=("tasks.get", tasks.get_task)),
    _route("/api/trash/", GET=("trash.list", trash.list_trash), POST=("trash.change", trash.restore_or_empty)),
    _route("/api/statistics/", GET=("statistics", account.statistics)),
    _route("/api/status/", GET=("status", account.status)),
    *(route for kind in objects.KINDS for route in _of_kind(kind)),
]


def route_of(path: str) -> tuple[Route, str] | None:
    for route in ROUTES:
        if found := route.pattern.fullmatch(path):
            return route, found[1] if found.groups() else ""
    return None


async def run(handler: Handler, call: Call) -> Response:
    response = handler(call)
    return await response if inspect.isawaitable(response) else response
