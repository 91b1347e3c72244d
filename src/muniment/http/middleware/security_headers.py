"""Security headers of every response."""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    # For data, which runs no scripts. Pages have their own.
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}
# One year. Without subdomains, which may belong to others.
HSTS = {"Strict-Transport-Security": "max-age=31536000"}
NO_STORE = {"Cache-Control": "no-store"}


class SecurityHeaders:
    """Adds the security headers, except those that a response sets itself."""

    def __init__(self, app: ASGIApp, *, public_url: str | None) -> None:
        self._app = app
        is_secure = public_url is not None and public_url.lower().startswith("https://")
        self._headers = HEADERS | HSTS if is_secure else HEADERS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = self._headers | NO_STORE if scope["path"].startswith(("/api/", "/internal/")) else self._headers

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message.setdefault("headers", [])
                answer = MutableHeaders(scope=message)
                for name, value in headers.items():
                    answer.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_with_headers)
