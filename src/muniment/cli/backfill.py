"""Implementation of `muniment archiver backfill`, with a progress bar."""

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from muniment.bootstrap.handover import build_own_documents
from muniment.bootstrap.installation import open_stores
from muniment.handover.backfill import Backfill, Chosen, Filled
from muniment.settings import Settings


async def backfill(settings: Settings, chosen: Chosen, *, dry_run: bool, show: bool) -> Filled:
    """Whoever interrupts it and calls it again goes on where it ended."""
    async with open_stores(settings) as stores:
        work = Backfill(build_own_documents(settings, stores), chosen)
        filled = Filled(await work.count())
        if dry_run:
            return filled
        columns = (TextColumn("queueing"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), disable=not show) as bar:
            task = bar.add_task("", total=filled.total)
            async for filled in work.carry_out():
                bar.update(task, total=filled.total, completed=filled.handed_over + filled.failed)
    return filled


def sentence(filled: Filled, *, dry_run: bool) -> str:
    if dry_run:
        return f"{filled.total} documents would be queued for Paperless."
    said = f"{filled.handed_over} of {filled.total} documents queued for Paperless, {filled.failed} failed."
    return f"{said} The queue is not responding. Run the command again later." if filled.is_interrupted else said
