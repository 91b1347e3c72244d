"""One request while the server handles it."""

import json
from dataclasses import dataclass
from typing import Any

from tests.support.fake_paperless.state import State
from tests.support.fake_paperless.users import User
from tests.support.fake_paperless.wire import Request, Response

HTML = "text/html; charset=utf-8"


class Refusal(Exception):
    """Ends the request with this response."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.status)
        self.response = response


def refuse(status: int, body: Any, **headers: str) -> Refusal:
    return Refusal(Response.of_json(body, status, **headers))


def refuse_text(status: int, text: str) -> Refusal:
    return Refusal(Response(status, text.encode(), HTML))


def no_such(name: str) -> Refusal:
    return refuse(404, {"detail": f"No {name} matches the given query."})


def not_found() -> Refusal:
    return refuse(404, {"detail": "Not found."})


def insufficient() -> Refusal:
    return refuse_text(403, "Insufficient permissions")


def server_error() -> Response:
    return Response(500, b"<!doctype html><title>Server Error (500)</title><h1>Server Error (500)</h1>", "text/html")


@dataclass
class Call:
    state: State
    user: User
    request: Request
    api: int
    """The requested version of the API."""
    key: str = ""
    """The variable part of the path, usually an id."""

    @property
    def flavour(self) -> int:
        return self.state.switches.flavour

    @property
    def number(self) -> int:
        if not self.key.isdecimal():
            raise not_found()
        return int(self.key)

    def demand(self, permission: str) -> None:
        if not self.user.may(permission):
            raise refuse(403, {"detail": "You do not have permission to perform this action."})

    def json(self) -> dict[str, Any]:
        try:
            body = self.request.json()
        except ValueError as error:
            raise refuse(400, {"detail": f"JSON parse error - {error}"}) from None
        if not isinstance(body, dict):
            raise refuse(
                400, {"non_field_errors": [f"Invalid data. Expected a dictionary, but got {json.dumps(body)}."]}
            )
        return body

    def unless_redis_is_down(self, response: Response) -> Response:
        """Return the response, or fail if Redis is down: the change is made, and then notifying the workers fails."""
        return response if self.state.switches.redis else server_error()
