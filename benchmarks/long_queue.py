"""One pass over a long queue in a process of its own: `python -m benchmarks.long_queue FOLDER`. Prints its memory."""

import asyncio
import json
import resource
import sys
from pathlib import Path
from time import perf_counter

import psutil

from benchmarks.archivers import build
from muniment.archival.archiver.report import PassReport
from muniment.archival.stores import ArchiveStores
from muniment.storage.queues.folder import FolderQueue
from muniment.telemetry.logs import configure_logs

NOBODY = "http://127.0.0.1:9"


async def run(folder: Path) -> PassReport:
    stores = ArchiveStores(FolderQueue(folder / "queue"), FolderQueue(folder / "letters"))
    archiver = build(stores, NOBODY, "token", NOBODY)
    report = await archiver.run()
    await archiver.close()
    return report


def main() -> None:
    configure_logs("json", "CRITICAL")
    idle, began = psutil.Process().memory_info().rss, perf_counter()
    report = asyncio.run(run(Path(sys.argv[1])))
    seconds = perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    facts = {"queue_depth": report.queue_depth, "peak_mb": peak / 1e6, "idle_mb": idle / 1e6, "seconds": seconds}
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
