"""Write one log line, one metric and one span for each request."""

import re
import time
from typing import Any
from uuid import UUID

import structlog
from opentelemetry.trace import Span, StatusCode
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uuid_utils.compat import uuid7

from muniment.telemetry.logs import mark_as_logged, was_logged
from muniment.telemetry.metrics import HTTP_REQUEST_SECONDS, HTTP_REQUESTS, UNMATCHED
from muniment.telemetry.traces import request_span

log = structlog.get_logger(__name__)

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
# A method can be any text, but a label must not be. OpenTelemetry uses the same replacement.
KNOWN_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
OTHER_METHOD = "_OTHER"
CLIENT_CLOSED_REQUEST = 499
"""Status of nginx: the client disconnected before the response was complete."""


class AccessLog:
    """Outermost middleware, around the FastAPI application.

    Only there does the response to an unhandled error, which Starlette sends outside of all added middleware, get its
    request id.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        exchange = _RequestLog(scope, receive, send, request_id=_request_id(headers))
        with (
            structlog.contextvars.bound_contextvars(request_id=exchange.request_id),
            request_span(exchange.method, headers) as span,
        ):
            try:
                await self._app(scope, exchange.receive, exchange.send)
            except ClientDisconnect:
                # Raised further, the server would report it as an error of ours.
                exchange.is_disconnected = True
            except Exception as error:
                exchange.error, exchange.is_logged = error, was_logged(error)
                mark_as_logged(error)
                raise
            finally:
                exchange.report(span)


class _RequestLog:
    """What is observed of one request and its response."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, *, request_id: str) -> None:
        self._scope, self._receive, self._send = scope, receive, send
        self._started = time.perf_counter()
        self._status = 500  # the server's response when the application sends none
        self._sent_bytes = 0
        self._is_complete = False
        self._expected_bytes = -1
        self.request_id = request_id
        self.method = scope["method"] if scope["method"] in KNOWN_METHODS else OTHER_METHOD
        self.is_disconnected = False
        self.error: Exception | None = None
        self.is_logged = False
        """Whether the failed operation has logged the traceback under the same request id."""

    async def receive(self) -> Message:
        message = await self._receive()
        # Servers send "disconnect" to everyone after the end of a response.
        if message["type"] == "http.disconnect" and not self._is_complete:
            self.is_disconnected = True
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            message.setdefault("headers", [])
            MutableHeaders(scope=message)["X-Request-ID"] = self.request_id
            self._expected_bytes = int(MutableHeaders(scope=message).get("Content-Length", "-1"))
        if message["type"] == "http.response.body":
            self._sent_bytes += len(message.get("body", b""))
            # Before sending, because a client that has all announced bytes may disconnect without waiting for the end.
            self._is_complete = not message.get("more_body", False) or self._sent_bytes == self._expected_bytes
        await self._send(message)

    def report(self, span: Span) -> None:
        seconds = time.perf_counter() - self._started
        status = self._outcome()
        operation = getattr(self._scope.get("route"), "name", None) or UNMATCHED
        HTTP_REQUESTS.labels(self.method, operation, str(status)).inc()
        HTTP_REQUEST_SECONDS.labels(self.method, operation).observe(seconds)
        self._annotate(span, status)
        write = self._log_method(status)
        write(
            "http.request",
            method=self.method,
            path=self._scope["path"],
            operation=operation,
            status=status,
            duration_ms=round(seconds * 1000, 1),
            bytes=self._sent_bytes,
            exc_info=None if self.is_logged else self.error,
            **_caller_fields(self._scope),
        )

    def _annotate(self, span: Span, status: int) -> None:
        span.set_attribute("http.request.method", self.method)
        span.set_attribute("http.response.status_code", status)
        if template := _route_template(self._scope):
            span.set_attribute("http.route", template)
            span.update_name(f"{self.method} {template}")
        if status >= 500:
            span.set_status(StatusCode.ERROR)

    def _outcome(self) -> int:
        if self.is_disconnected:
            return CLIENT_CLOSED_REQUEST
        # A response that was aborted began with 200, but must be counted as a failure.
        return 500 if self.error else self._status

    def _log_method(self, status: int) -> Any:
        if self.error is not None:
            return log.error
        if self._scope["path"].startswith("/health/") or self._scope["path"] == "/metrics":
            return log.debug
        return log.warning if status >= 500 else log.info


def _request_id(headers: Headers) -> str:
    request_id = headers.get("X-Request-ID", "")
    return request_id if REQUEST_ID.fullmatch(request_id) else str(uuid7())


def _route_template(scope: Scope) -> str | None:
    # FastAPI's route has only the path below its router; the full path is next to it.
    context = scope.get("fastapi", {}).get("effective_route_context")
    return getattr(context or scope.get("route"), "path_format", None)


def _caller_fields(scope: Scope) -> dict[str, UUID]:
    principal = scope.get("state", {}).get("principal")
    return {} if principal is None else {"user": principal.user_id, "organization": principal.organization_id}
