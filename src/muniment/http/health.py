"""Endpoints for liveness, readiness and metrics."""

from collections.abc import Mapping
from typing import Annotated, Literal

from fastapi import APIRouter, Header, Request, Response
from pydantic import BaseModel

from muniment.errors import NotSignedIn
from muniment.http.dependencies import CurrentServices, secrets_equal
from muniment.http.health_checks import HealthCheckRead
from muniment.telemetry.metrics import render

router = APIRouter(tags=["health"])

LOOPBACK = frozenset({"127.0.0.1", "::1"})
FORWARDED_HEADERS = ("forwarded", "x-forwarded-for", "x-real-ip")


class Readiness(BaseModel):
    status: Literal["ok", "degraded", "failed"]
    checks: Mapping[str, HealthCheckRead]


@router.get("/health/live")
async def live() -> dict[str, str]:
    """Return 200 if the process is running. No other component is checked."""
    return {"status": "ok"}


@router.get("/health/ready", responses={503: {"model": Readiness}})
async def ready(response: Response, services: CurrentServices) -> Readiness:
    """Return the state of each component. `degraded` (200) if an optional one fails, `failed` (503) otherwise."""
    checks = await services.checks.run()
    failed = [services.checks.checks[name] for name, result in checks.items() if result.status == "failed"]
    if any(check.is_critical for check in failed):
        response.status_code = 503
        return Readiness(status="failed", checks=checks)
    return Readiness(status="degraded" if failed else "ok", checks=checks)


@router.get("/metrics", response_class=Response, include_in_schema=False)
async def metrics(
    request: Request, services: CurrentServices, authorization: Annotated[str, Header()] = ""
) -> Response:
    """Return the metrics to this machine or with the token. Behind a proxy on this machine the token is required."""
    if not _is_local(request) and not _has_token(authorization, services.metrics_token):
        raise NotSignedIn
    body, content_type = render()
    return Response(body, media_type=content_type)


def _is_local(request: Request) -> bool:
    is_forwarded = any(name in request.headers for name in FORWARDED_HEADERS)
    return request.client is not None and request.client.host in LOOPBACK and not is_forwarded


def _has_token(authorization: str, token: str | None) -> bool:
    return token is not None and secrets_equal(authorization, f"Bearer {token}")
