"""One pass of a real archiver process that kills itself just after its effect of a number.

`dying_archiver.py '{"paperless", "token", "api", "key", "queue", "letters", "ahead", "number"}'`
"""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from muniment.archival.archiver.alerts import Alerts
from muniment.archival.archiver.apprise_notifier import AppriseNotifier
from muniment.archival.archiver.run import Archiver
from muniment.archival.archiver.tools import Options
from muniment.archival.internal_client import InternalApi
from muniment.archival.paperless.client import Paperless
from muniment.archival.stores import ArchiveStores
from muniment.telemetry.logs import configure_logs
from tests.archival.archiver.effects import Effects, WatchedQueue
from tests.archival.archiver.time import WoundClock


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
