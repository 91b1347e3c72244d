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
from muniment.handover.archiver.pass_context import ArchiverOptions
from muniment.handover.internal.client import InternalApiClient
from muniment.handover.paperless.client import PaperlessClient
from muniment.handover.queue import HandoverStores
from muniment.telemetry.logs import configure_logs
from tests.handover.archiver.effects import PassEffectRecorder, RecordingQueue
from tests.handover.archiver.fakes import FakeClock


async def run(case: dict[str, Any]) -> None:
    async def kill(reached: int, _what: str) -> None:
        if reached == case["number"]:
            os.kill(os.getpid(), signal.SIGKILL)

    effects, clock = PassEffectRecorder(kill), FakeClock()
    clock.advance(seconds=case["ahead"])
    queue, letters = (RecordingQueue(Path(case[name]), effects) for name in ("queue", "letters"))
    archiver = Archiver(
        HandoverStores(queue, letters),
        PaperlessClient(case["paperless"], case["token"]),
        InternalApiClient(case["api"], case["key"]),
        Alerts(queue, AppriseNotifier(""), clock),
        ArchiverOptions(case["paperless"], concurrency=1),
        clock=clock,
    )
    effects.watch(archiver)
    await archiver.run()
    await archiver.close()


if __name__ == "__main__":
    configure_logs("json", "CRITICAL")
    asyncio.run(run(json.loads(sys.argv[1])))
