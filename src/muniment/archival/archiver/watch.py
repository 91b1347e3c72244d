"""A pass every few minutes, until somebody ends it."""

from collections.abc import Callable
from datetime import timedelta

from muniment.archival.archiver.report import Outcome, PassReport
from muniment.archival.archiver.run import Archiver

AGAIN_SOON = timedelta(seconds=30)
"""After a pass that found another archiver: it may have died, and its lease ends within two minutes."""


async def watch(archiver: Archiver, interval: timedelta, on_pass: Callable[[PassReport], None] | None = None) -> None:
    """From the end of one pass to the beginning of the next."""
    while True:
        report = await archiver.run()
        if on_pass:
            on_pass(report)
        is_held = report.outcome is Outcome.ANOTHER_AT_WORK
        await archiver.clock.sleep((min(AGAIN_SOON, interval) if is_held else interval).total_seconds())
