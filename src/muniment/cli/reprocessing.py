"""Queue documents for reprocessing and show the progress."""

from collections.abc import Sequence
from uuid import UUID

from muniment.bootstrap.installation import open_stores
from muniment.cli.output import progress_bar
from muniment.lifecycle.reprocess import BulkReread, RereadProgress
from muniment.settings import Settings
from muniment.storage.tasks.port import RunRequest


async def reprocess_and_wait(
    settings: Settings, kb_ids: Sequence[UUID], request: RunRequest, *, wait: bool, show: bool
) -> RereadProgress:
    """Queue the documents and, with `wait`, follow them until all have finished.

    An interruption ends only the waiting; queued documents are still processed.
    """
    async with open_stores(settings) as stores:
        reread = BulkReread(stores.database, stores.tasks, request)
        progress = RereadProgress(total=await reread.enqueue(kb_ids), completed=0, failed=0)
        with progress_bar(show=show) as bar:
            task = bar.add_task("reprocessing", total=progress.total)
            if wait:
                async for progress in reread.watch():
                    bar.update(task, completed=progress.completed + progress.failed)
    return progress
