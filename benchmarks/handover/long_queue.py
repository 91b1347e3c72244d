"""One pass over a long queue in its own process:

`python -m benchmarks.handover.long_queue FOLDER`. Prints its memory.
"""

import asyncio
import json
import sys
from pathlib import Path
from time import perf_counter

import psutil

from benchmarks.handover.archivers import build_archiver
from muniment.handover.archiver.pass_context import PassReport
from muniment.handover.queue import HandoverStores
from muniment.storage.objects.folder.store import VersionedFolderStore
from muniment.telemetry.logs import configure_logs

NOBODY = "http://127.0.0.1:9"


async def run(folder: Path) -> PassReport:
    stores = HandoverStores(VersionedFolderStore(folder / "queue"), VersionedFolderStore(folder / "letters"))
    archiver = build_archiver(stores, NOBODY, "token", NOBODY)
    report = await archiver.run()
    await archiver.close()
    return report


def _peak_bytes() -> int:
    """Return the peak of this program: `getrusage` would include its parent up to exec."""
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024


def main() -> None:
    configure_logs("json", "CRITICAL")
    idle, began = psutil.Process().memory_info().rss, perf_counter()
    report = asyncio.run(run(Path(sys.argv[1])))
    seconds = perf_counter() - began
    peak = _peak_bytes()
    facts = {"queue_depth": report.queue_depth, "peak_mb": peak / 1e6, "idle_mb": idle / 1e6, "seconds": seconds}
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
