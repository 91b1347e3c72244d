"""Tokens and the status of the server."""

import time
from typing import Any
from urllib.parse import parse_qs

from tests.support.fake_paperless.call import Call, insufficient, refuse
from tests.support.fake_paperless.state import State
from tests.support.fake_paperless.wire import Request, Response

_PER_MINUTE = 5


def token(state: State, request: Request) -> Response:
    """Return a token for a name and password. 3.x throttles this call and no other."""
    if state.switches.flavour == 3:
        _throttle(state)
    given = _credentials(request)
    for user in state.users:
        if (user.name, user.password) == (given.get("username"), given.get("password")):
            return Response.of_json({"token": user.token})
    raise refuse(400, {"non_field_errors": ["Unable to log in with provided credentials."]})


def _throttle(state: State) -> None:
    now = time.time()
    state.token_attempts = [at for at in state.token_attempts if at > now - 60]
    if len(state.token_attempts) >= _PER_MINUTE:
        wait = max(1, round(state.token_attempts[0] + 60 - now))
        detail = f"Request was throttled. Expected available in {wait} seconds."
        raise refuse(429, {"detail": detail}, **{"Retry-After": str(wait)})
    state.token_attempts.append(now)


def _credentials(request: Request) -> dict[str, Any]:
    if request.headers.get("content-type", "").startswith("application/json"):
        found: dict[str, Any] = request.json()
        return found
    return {name: values[-1] for name, values in parse_qs(request.body.decode()).items()}


def statistics(call: Call) -> Response:
    live = [document for document in call.state.documents.values() if document.deleted_at is None]
    return Response.of_json({"documents_total": len(live), "current_asn": 0})


def status(call: Call) -> Response:
    if not call.user.is_superuser:
        raise insufficient()
    switches = call.state.switches
    idle = {2: "ERROR", 3: "WARNING"}[switches.flavour]
    celery = "OK" if switches.worker == "running" else idle
    redis = "OK" if switches.redis else "ERROR"
    tasks = {"redis_status": redis, "celery_status": celery if switches.redis else "ERROR"}
    return Response.of_json({"pngx_version": switches.version, "tasks": tasks})
