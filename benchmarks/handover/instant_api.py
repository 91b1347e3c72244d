"""An internal API that accepts everything immediately, in its own process: `with instant_api() as url`."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.fake_paperless.wire import Request, Response, listen


async def agree(request: Request) -> Response:
    if request.method == "GET":
        return Response.of_json({"detail": "No Paperless IDs are recorded for this organization yet"}, 404)
    if request.method == "PUT":
        return Response.of_json(request.json())
    return Response(204, content_type=None)


async def serve() -> None:
    server = await listen(agree, 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@contextmanager
def instant_api() -> Iterator[str]:
    program = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.handover.instant_api"], stdout=subprocess.PIPE, text=True
    )
    assert program.stdout
    try:
        yield f"http://127.0.0.1:{int(program.stdout.readline())}"
    finally:
        program.terminate()
        program.communicate()


if __name__ == "__main__":
    asyncio.run(serve())
