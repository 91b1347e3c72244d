"""What can be made to go wrong with a request, on the side of the wire. Set through `FakePaperless.fault`."""

from dataclasses import dataclass, field

_SERVER_ERROR = "<!doctype html><html><head><title>Server Error (500)</title></head></html>"
_LOGIN = "<!doctype html><html><head><title>Paperless-ngx sign in</title></head></html>"


@dataclass
class Fault:
    """Instead of the true answer this one; `is_applied` says whether the request was carried out all the same."""

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
    """Which requests, by the name of the call: `upload`, `documents.list`, `tags.*`."""
    times: int | None = 1
    """For how many of them; None until cleared."""
    skip: int = 0
    """How many of them pass before."""


def unauthorized() -> Fault:
    return Fault(401, '{"detail":"Invalid token."}', headers={"WWW-Authenticate": "Token"})


def forbidden_json() -> Fault:
    return Fault(403, '{"detail":"You do not have permission to perform this action."}')


def forbidden_text() -> Fault:
    return Fault(403, "Insufficient permissions", "text/html; charset=utf-8")


def to_login(location: str = "/accounts/login/?next=/api/tags") -> Fault:
    return Fault(302, "", "text/html; charset=utf-8", {"Location": location})


def not_found_page() -> Fault:
    """As from a proxy that knows no Paperless."""
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
    """Carried out, and said to be, but without an id."""
    return Fault(200, body, is_applied=True)


def truncated_json() -> Fault:
    """Carried out; the answer is whole as HTTP, but its JSON ends in the middle."""
    return Fault(is_applied=True, is_truncated=True)


def cut_off() -> Fault:
    """Carried out; the connection ends in the middle of the answer."""
    return Fault(is_applied=True, delivery="HALF")


def lost_answer() -> Fault:
    """Carried out; the connection ends before the answer."""
    return Fault(is_applied=True, delivery="NONE")


def dropped() -> Fault:
    """Not carried out; the connection ends."""
    return Fault(delivery="NONE")


def hanging(*, is_applied: bool = False) -> Fault:
    """No answer, until the faults are cleared or the client leaves."""
    return Fault(is_applied=is_applied, hangs=True)


def slow(seconds: float) -> Fault:
    """The true answer, late."""
    return Fault(is_applied=True, delay=seconds)
