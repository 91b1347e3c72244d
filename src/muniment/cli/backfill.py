"""Implementation of `muniment archiver backfill`, with a progress bar."""

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from muniment.bootstrap.handover import build_document_handover
from muniment.bootstrap.installation import open_stores
from muniment.handover.backfill import Backfill, BackfillFilter, BackfillProgress
from muniment.settings import Settings


async def run_backfill(
    settings: Settings, criteria: BackfillFilter, *, dry_run: bool, show_progress: bool
) -> BackfillProgress:
    """Whoever interrupts it and calls it again goes on where it ended."""
    async with open_stores(settings) as stores:
        work = Backfill(build_document_handover(settings, stores), criteria)
        filled = BackfillProgress(await work.count())
        if dry_run:
            return filled
        columns = (TextColumn("queueing"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), disable=not show_progress) as bar:
            task = bar.add_task("", total=filled.total)
            async for filled in work.run():
                bar.update(task, total=filled.total, completed=filled.handed_over + filled.failed)
    return filled


def format_progress(progress: BackfillProgress, *, dry_run: bool) -> str:
    if dry_run:
        return f"{progress.total} documents would be queued for Paperless."
    said = f"{progress.handed_over} of {progress.total} documents queued for Paperless, {progress.failed} failed."
    return f"{said} The queue is not responding. Run the command again later." if progress.is_interrupted else said
