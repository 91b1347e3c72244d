"""Server process: `python -m tests.support.fake_paperless.server PORT STATE SWITCHES`.

It prints its port and runs until stdin closes.
"""

import asyncio
import json
import pickle
import signal
import sys
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tests.support.fake_paperless import account, control
from tests.support.fake_paperless.access import interface_version, user_of
from tests.support.fake_paperless.call import HTML, Call, Refusal, refuse
from tests.support.fake_paperless.consumer import work
from tests.support.fake_paperless.faults import Fault
from tests.support.fake_paperless.routes import route_of, run
from tests.support.fake_paperless.state import State, Switches
from tests.support.fake_paperless.wire import Delivery, Request, Response, listen


class Server:
    def __init__(self, state: State) -> None:
        self.state = state
        self._cleared = asyncio.Event()

    async def handle(self, request: Request) -> Response:
        work(self.state)
        if request.path.startswith("/control/"):
            return self._control(request)
        name = _name(request)
        fault = _take(self.state, name)
        response = await (self._faulty(fault, request) if fault else self._answer(request))
        self._note(name, request, response)
        return response

    def _control(self, request: Request) -> Response:
        answer = control.ACTIONS[request.path.removeprefix("/control/")](self.state, request.json())
        if not self.state.faults:
            self._cleared.set()
            self._cleared = asyncio.Event()
        return Response.of_json(answer)

    async def _faulty(self, fault: Fault, request: Request) -> Response:
        cleared = self._cleared
        response = await self._answer(request) if fault.is_applied else Response()
        if fault.hangs:
            await cleared.wait()
            return Response(delivery=Delivery.NONE)
        await asyncio.sleep(fault.delay)
        if fault.status is not None:
            response = Response(fault.status, fault.body.encode(), fault.content_type, dict(fault.headers))
        if fault.is_truncated:
            response.body = response.body[: len(response.body) // 2]
        response.delivery = Delivery[fault.delivery]
        return response

    async def _answer(self, request: Request) -> Response:
        try:
            if request.path == "/api/token/" and request.method == "POST":
                return account.token(self.state, request)
            return await self._routed(request)
        except Refusal as refusal:
            return refusal.response

    async def _routed(self, request: Request) -> Response:
        found = route_of(request.path)
        if found is None:
            return _elsewhere(request)
        api = interface_version(self.state, request)
        user = user_of(self.state, request)
        route, key = found
        try:
            if request.method not in route.methods:
                raise refuse(405, {"detail": f'Method "{request.method}" not allowed.'})
            response = await run(route.methods[request.method][1], Call(self.state, user, request, api, key))
        except Refusal as refusal:
            response = refusal.response
        versions = {"X-Api-Version": str(self.state.switches.newest_api), "X-Version": self.state.switches.version}
        response.headers = {**response.headers, **versions}
        return response

    def _note(self, name: str, request: Request, response: Response) -> None:
        headers = {key: value for key, value in request.headers.items() if key != "authorization"}
        seen: dict[str, Any] = {"name": name, "method": request.method, "path": request.path, "query": request.query}
        seen |= {"headers": headers, "size": len(request.body), "status": response.status}
        self.state.requests.append(seen)


def _elsewhere(request: Request) -> Response:
    """Respond to an unknown path; a missing trailing slash is enough."""
    if request.method == "GET":
        return Response(302, b"", HTML, {"Location": f"/accounts/login/?next={request.path}"})
    return Response(403, b"<!doctype html><title>403 Forbidden</title><h1>CSRF verification failed.</h1>", HTML)


def _name(request: Request) -> str:
    found = route_of(request.path)
    return found[0].methods.get(request.method, ("unknown", None))[0] if found else "unknown"


def _take(state: State, name: str) -> Fault | None:
    for fault in state.faults:
        if not fnmatchcase(name, fault.on):
            continue
        if fault.skip:
            fault.skip -= 1
            continue
        if fault.times is not None:
            fault.times -= 1
            if not fault.times:
                state.faults.remove(fault)
        return fault
    return None


async def _serve(port: int, path: Path, switches: str) -> None:
    state = pickle.loads(path.read_bytes()) if path.exists() else State(Switches(**json.loads(switches)))
    server = await listen(Server(state).handle, port)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, over.set)
    loop.add_reader(sys.stdin, over.set)
    await over.wait()
    server.close()
    path.write_bytes(pickle.dumps(state))


if __name__ == "__main__":
    with suppress(ImportError):
        import uvloop

        asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
    asyncio.run(_serve(int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]))
