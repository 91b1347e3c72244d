"""Faults of single requests, set through `FakePaperless.fault`."""

from dataclasses import dataclass, field

_SERVER_ERROR = "<!doctype html><html><head><title>Server Error (500)</title></head></html>"
_LOGIN = "<!doctype html><html><head><title>Paperless-ngx sign in</title></head></html>"


@dataclass
class Fault:
    """A response that replaces the real one. `is_applied` tells whether the request is executed anyway."""

    status: int | None = None
    body: str = ""
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    is_applied: bool = False
    delay: float = 0
    delivery: str = "WHOLE"
    is_truncated: bool = False
    hangs: bool = False
    on: str = "*"
    """Name of the call: `upload`, `documents.list`, `tags.*`."""
    times: int | None = 1
    """Number of requests that fail; None until cleared."""
    skip: int = 0
    """Number of requests that succeed first."""


def unauthorized() -> Fault:
    return Fault(401, '{"detail":"Invalid token."}', headers={"WWW-Authenticate": "Token"})


def forbidden_json() -> Fault:
    return Fault(403, '{"detail":"You do not have permission to perform this action."}')


def forbidden_text() -> Fault:
    return Fault(403, "Insufficient permissions", "text/html; charset=utf-8")


def to_login(location: str = "/accounts/login/?next=/api/tags") -> Fault:
    return Fault(302, "", "text/html; charset=utf-8", {"Location": location})


def not_found_page() -> Fault:
    """Response of a proxy that does not know Paperless."""
    return Fault(404, "<html><title>404 page not found</title></html>", "text/html")


def wrong_method() -> Fault:
    return Fault(405, '{"detail":"Method \\"POST\\" not allowed."}')


def not_acceptable() -> Fault:
    return Fault(406, '{"detail":"Invalid version in \\"Accept\\" header."}')


def throttled(retry_after: str | None = None) -> Fault:
    return Fault(
        429, '{"detail":"Request was throttled."}', headers={"Retry-After": retry_after} if retry_after else {}
    )


def refused(status: int, body: str = '{"detail":"No."}') -> Fault:
    return Fault(status, body)


def server_error(status: int = 500, *, is_applied: bool = False, delay: float = 0) -> Fault:
    return Fault(status, _SERVER_ERROR, "text/html", is_applied=is_applied, delay=delay)


def html_with_200(*, is_applied: bool = False) -> Fault:
    return Fault(200, _LOGIN, "text/html; charset=utf-8", is_applied=is_applied)


def empty_success(body: str = "null") -> Fault:
    """Executed and successful, but without an id in the response."""
    return Fault(200, body, is_applied=True)


def truncated_json() -> Fault:
    """Executed; a complete HTTP response with truncated JSON."""
    return Fault(is_applied=True, is_truncated=True)


def cut_off() -> Fault:
    """Executed; the connection is closed in the middle of the response."""
    return Fault(is_applied=True, delivery="HALF")


def lost_answer() -> Fault:
    """Executed; the connection is closed before the response."""
    return Fault(is_applied=True, delivery="NONE")


def dropped() -> Fault:
    """Not executed; the connection is closed."""
    return Fault(delivery="NONE")


def hanging(*, is_applied: bool = False) -> Fault:
    """No response until the faults are cleared or the client disconnects."""
    return Fault(is_applied=is_applied, hangs=True)


def slow(seconds: float) -> Fault:
    """The real response, delayed."""
    return Fault(is_applied=True, delay=seconds)
