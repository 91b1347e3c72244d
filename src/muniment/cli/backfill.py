"""Queue documents that were never sent to Paperless, for `muniment archiver backfill`."""

from muniment.bootstrap.handover import build_document_handover
from muniment.bootstrap.installation import open_stores
from muniment.cli.output import progress_bar
from muniment.handover.backfill import Backfill, BackfillFilter, BackfillProgress
from muniment.settings import Settings


async def run_backfill(
    settings: Settings, criteria: BackfillFilter, *, dry_run: bool, show_progress: bool
) -> BackfillProgress:
    """Run a backfill, or only count its documents. An interrupted one continues where it stopped."""
    async with open_stores(settings) as stores:
        backfill = Backfill(build_document_handover(settings, stores), criteria)
        progress = BackfillProgress(await backfill.count())
        if dry_run:
            return progress
        with progress_bar(show=show_progress) as bar:
            task = bar.add_task("queueing", total=progress.total)
            async for progress in backfill.run():
                bar.update(task, total=progress.total, completed=progress.handed_over + progress.failed)
    return progress


def format_progress(progress: BackfillProgress, *, dry_run: bool) -> str:
    if dry_run:
        return f"{progress.total} documents would be queued for Paperless."
    summary = f"{progress.handed_over} of {progress.total} documents queued for Paperless, {progress.failed} failed."
    return (
        f"{summary} The queue is not responding. Run the command again later." if progress.is_interrupted else summary
    )
