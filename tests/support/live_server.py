"""A real server on the loopback interface, in the event loop of the test."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import uvicorn
from starlette.types import ASGIApp

from muniment.http.middleware.limits import HeaderLimitProtocol
from tests.support.clients import local_client


@asynccontextmanager
async def serving(app: ASGIApp, http: type[asyncio.Protocol] = HeaderLimitProtocol) -> AsyncIterator[httpx.AsyncClient]:
    """Serve `app` and yield a client whose `base_url` is its address."""
    # Without IPPROTO_TCP asyncio leaves Nagle's algorithm on, and each response waits 40 ms for an acknowledgement.
    with socket.socket(proto=socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        config = uvicorn.Config(app, http=http, log_config=None, lifespan="off")
        config.load()
        # `Server.serve` would poll for signals ten times a second, and each test would wait for that.
        server = uvicorn.Server(config)
        server.lifespan = config.lifespan_class(config)
        await server.startup(sockets=[listener])
        try:
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            async with local_client(url) as client:
                yield client
        finally:
            await _end(server)


async def _end(server: uvicorn.Server) -> None:
    """Shut the server down like its own `shutdown`, which always sleeps for a tenth of a second first."""
    for listening in server.servers:
        listening.close()
    for connection in list(server.server_state.connections):
        connection.shutdown()
    while server.server_state.connections or server.server_state.tasks:  # noqa: ASYNC110  # there is no event to wait for
        await asyncio.sleep(0.005)
    for listening in server.servers:
        await listening.wait_closed()
