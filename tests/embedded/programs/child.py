"""Minimal child of the supervisor that records its signals."""

import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType

from muniment.embedded import child_process

name, events, manner = sys.argv[1], Path(sys.argv[2]), sys.argv[3]


def note(what: str) -> None:
    with events.open("a") as file:
        file.write(f"{time.monotonic()} {name} {what} {os.getpid()}\n")


def stop(number: int, frame: FrameType | None) -> None:
    note("asked to stop")
    if manner not in ("deaf", "impatient"):
        time.sleep(0.2)  # so that a child that did not wait for this one would be noticed
        note("stopped")
        sys.exit(0)


def lose() -> None:
    note("lost")
    os._exit(0)


signal.signal(signal.SIGTERM, stop)
signal.signal(signal.SIGINT, lambda *_: note("interrupted"))
child_process.on_supervisor_exit(lose)
if manner == "broken":
    sys.exit(3)
note("started")
while True:
    signal.pause()
