"""Fork one API process for each line of the input: `[database, folder, socket, number]`.

Each child serves one request on the socket and kills itself just before the effect with that number; without such an
effect it answers. The program prints a line when the child listens, and a line of JSON when it has ended.
"""

import asyncio
import json
import os
import signal
import sys
import traceback
from dataclasses import replace
from pathlib import Path
from typing import TextIO

import uvicorn

from muniment.api import create_app, with_middleware
from muniment.bootstrap.services import build_services
from muniment.bootstrap.stores import build_ledger, build_stores
from muniment.http.middleware.limits import HeaderLimitProtocol
from muniment.settings import Settings
from muniment.storage.db.address import DatabaseAddress
from muniment.telemetry.logs import configure_logs
from tests.faults.moves.faults import Fault, Faults, Part
from tests.faults.moves.recording import FaultyObjectStore
from tests.support.live_api import settings_for

LISTENS = "listens"


class SelfKillingFaults(Faults):
    def __init__(self, dies_at: int) -> None:
        super().__init__()
        self._dies_at = dies_at

    def meet(self, part: Part, what: str) -> Fault | None:
        if len(self.reached) == self._dies_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().meet(part, what)


class Server(uvicorn.Server):
    """Server that reports when it listens."""

    channel: TextIO

    async def startup(self, sockets: object = None) -> None:
        await super().startup()
        self.channel.write(f"{LISTENS}\n")
        self.channel.flush()


async def serve_one(settings: Settings, socket: str, effects: SelfKillingFaults, channel: TextIO) -> None:
    stores = build_stores(settings)
    objects = FaultyObjectStore(settings.server.data_dir / "blobs")
    objects.faults = effects
    stores = replace(stores, objects=objects, ledger=build_ledger(stores.database, objects, stores.handover))
    app = with_middleware(create_app(build_services(settings, stores)), settings)
    config = uvicorn.Config(
        app, uds=socket, http=HeaderLimitProtocol, log_config=None, lifespan="off", limit_max_requests=1
    )
    server = Server(config)
    server.channel = channel
    with effects.watch(stores.database.app_engine, stores.database.service_engine, stores.locks._engine):
        await server.serve()
    await stores.close()


def child(line: str, last_word: int) -> None:
    """Serve one request. Never returns."""
    database, folder, socket, number = json.loads(line)
    with os.fdopen(last_word, "w") as channel:
        settings = settings_for(DatabaseAddress.parse(database), Path(folder))
        asyncio.run(serve_one(settings, socket, SelfKillingFaults(number), channel))


def main() -> None:
    configure_logs("json", "CRITICAL")
    for line in sys.stdin:
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            try:
                child(line, writing)
            except BaseException:  # noqa: BLE001 the child must never continue as a second parent
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as channel:
            say(channel.readline().strip())
            channel.read()
        _, status = os.waitpid(pid, 0)
        say(json.dumps({"ended": os.waitstatus_to_exitcode(status)}))


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
