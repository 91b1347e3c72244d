"""One pass of a real archiver process that kills itself after its effect with a given number.

`dying_archiver.py '{"paperless", "token", "api", "key", "queue", "letters", "ahead", "number"}'`
"""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from muniment.handover.archiver.archiver import Archiver
from muniment.handover.archiver.monitoring import Alerts, AppriseNotifier
from muniment.handover.archiver.pass_context import Options
from muniment.handover.internal.client import InternalApi
from muniment.handover.paperless.client import Paperless
from muniment.handover.queue import ArchiveStores
from muniment.telemetry.logs import configure_logs
from tests.handover.archiver.effects import Effects, WatchedQueue
from tests.handover.archiver.fakes import WoundClock


async def run(case: dict[str, Any]) -> None:
    async def kill(reached: int, _what: str) -> None:
        if reached == case["number"]:
            os.kill(os.getpid(), signal.SIGKILL)

    effects, clock = Effects(kill), WoundClock()
    clock.wind(seconds=case["ahead"])
    queue, letters = (WatchedQueue(Path(case[name]), effects) for name in ("queue", "letters"))
    archiver = Archiver(
        ArchiveStores(queue, letters),
        Paperless(case["paperless"], case["token"]),
        InternalApi(case["api"], case["key"]),
        Alerts(queue, AppriseNotifier(""), clock),
        Options(case["paperless"], concurrency=1),
        clock=clock,
    )
    effects.watch(archiver)
    await archiver.run()
    await archiver.close()


if __name__ == "__main__":
    configure_logs("json", "CRITICAL")
    asyncio.run(run(json.loads(sys.argv[1])))
