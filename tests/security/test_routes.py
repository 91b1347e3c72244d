"""Walk all routes of the application: an unprotected one would answer, and fails here."""

import re
from collections.abc import Iterator
from uuid import uuid4

import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from httpx import AsyncClient, Response
from starlette.routing import Mount

from tests.support.live_api import RunningApi

PUBLIC = {
    ("GET", "/{path:page}"),  # only static files of the package: tests/web checks what is refused
    ("GET", "/docs"),
    ("GET", "/docs/assets/start.js"),
    ("GET", "/openapi.json"),
    ("GET", "/health/live"),
    ("GET", "/health/ready"),
    ("GET", "/metrics"),  # only for this machine: tests/http checks what is refused
    ("POST", "/api/v1/auth/login"),
    ("POST", "/api/v1/auth/redeem"),
}
PUBLIC_MOUNTS = {"/docs/assets"}
UNKNOWN_TOKEN = "mun_" + "x" * 43


def operations(app: FastAPI) -> Iterator[tuple[str, str]]:
    """Yield every method and path, including those of included routers and hidden ones."""
    for route in iter_route_contexts(app.routes):
        if isinstance(route.original_route, Mount):
            assert route.path in PUBLIC_MOUNTS, f"what stands below {route.path} is guarded by nobody"
            continue
        assert route.path is not None, f"{route.original_route} is of a kind that this walk does not know"
        for method in (route.methods or set()) - {"HEAD"}:
            yield method, route.path.replace(":path}", "}")  # as the OpenAPI document writes it


def guarded(app: FastAPI) -> list[tuple[str, str]]:
    return sorted(set(operations(app)) - PUBLIC)


async def call(client: AsyncClient, method: str, path: str, *, value: str = "", **headers: str) -> Response:
    filled = re.sub(r"{[^}]+}", lambda _: value or str(uuid4()), path)
    # A body that no schema accepts: the caller is checked before the request.
    body: dict[str, str] | None = None if method in ("GET", "DELETE") else {}
    return await client.request(method, filled, json=body, headers=headers)


def test_the_walk_sees_what_the_description_shows(api: RunningApi) -> None:
    described = {(method.upper(), path) for path, methods in api.app.openapi()["paths"].items() for method in methods}
    assert len(described) > 20
    assert described <= set(operations(api.app))
    assert set(operations(api.app)) >= PUBLIC, "the list of public routes names one that is gone"


async def test_every_route_asks_who_is_calling_before_anything_else(api: RunningApi) -> None:
    answers = {
        (method, path): (await call(api.anonymous, method, path)).status_code for method, path in guarded(api.app)
    }
    assert answers
    assert {operation: status for operation, status in answers.items() if status != 401} == {}


async def test_a_malformed_id_tells_a_stranger_nothing(api: RunningApi) -> None:
    with_ids = [(method, path) for method, path in guarded(api.app) if "{" in path]
    answers = {
        (method, path): (await call(api.anonymous, method, path, value="no-uuid")).status_code
        for method, path in with_ids
    }
    assert {operation: status for operation, status in answers.items() if status != 401} == {}


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": f"Bearer {UNKNOWN_TOKEN}"},
        {"Authorization": "Bearer"},
        {"Authorization": "Basic dXNlcjpwYXNzd29yZA=="},
        {"Cookie": "muniment_session=unknown"},
    ],
)
async def test_credentials_that_nobody_has_are_no_credentials(api: RunningApi, headers: dict[str, str]) -> None:
    for method, path in guarded(api.app):
        answer = await call(api.anonymous, method, path, **headers)
        assert answer.status_code in (401, 403), (method, path)  # 403: a cookie without the origin of our own page
        assert "www-authenticate" in answer.headers or answer.status_code == 403


async def test_public_routes_answer_without_credentials(api: RunningApi) -> None:
    for method, path in sorted(PUBLIC):
        # A missing page is served, too: tests/web/test_static_site.py checks existing ones.
        expected = (404, 503) if path == "/{path:page}" else (200, 307, 422)
        answer = await call(api.anonymous, method, path)
        assert answer.status_code in expected, (method, path)
