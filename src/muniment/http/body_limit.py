"""Bodies that are read whole into memory must be small; uploads are streamed and have a limit of their own."""

import asyncio
import re

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY_BYTES = 1024 * 1024
STREAMED = re.compile(r"/api/v1/(knowledge-bases/[^/]+/documents(/[^/]+/replace)?|organizations/[^/]+/archive)/?")


class BodyLimit:
    """Answers 413 as soon as a body is, or says that it will be, larger than `max_bytes`, whoever sends it."""

    def __init__(self, app: ASGIApp, *, max_bytes: int = MAX_BODY_BYTES, stalled_seconds: float = 30) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._stalled_seconds = stalled_seconds
        self._sentence = f"The body is larger than {max_bytes} bytes"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or STREAMED.fullmatch(scope["path"]):
            await self._app(scope, receive, send)
        elif self._is_announced_too_large(Headers(scope=scope).get("content-length", "")):
            await JSONResponse({"detail": self._sentence}, status_code=413)(scope, receive, send)
        else:
            await self._app(scope, self._counted(receive), send)

    def _counted(self, receive: Receive) -> Receive:
        received, expects_body = 0, True

        async def counted() -> Message:
            nonlocal received, expects_body
            try:
                async with asyncio.timeout(self._stalled_seconds if expects_body else None):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408, "Nothing more came in time; send it again") from None
            expects_body = message.get("more_body", False)
            received += len(message.get("body", b""))
            if received > self._max_bytes:
                # Of this kind, because FastAPI makes a 400 of any other that comes while it reads a body.
                raise HTTPException(413, self._sentence)
            return message

        return counted

    def _is_announced_too_large(self, length: str) -> bool:
        return length.isdecimal() and int(length) > self._max_bytes
