"""Queue documents for reprocessing and show the progress."""

from collections.abc import Sequence
from uuid import UUID

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from muniment.bootstrap.installation import open_stores
from muniment.lifecycle.reprocess import BulkReread, RereadProgress
from muniment.settings import Settings
from muniment.storage.tasks.port import RunRequest


async def reprocess_and_wait(
    settings: Settings, kb_ids: Sequence[UUID], request: RunRequest, *, wait: bool, show: bool
) -> RereadProgress:
    """The bar counts documents that have ended. Whoever interrupts it interrupts the watching, not the reading."""
    async with open_stores(settings) as stores:
        reprocessing = BulkReread(stores.database, stores.tasks, request)
        progress = RereadProgress(total=await reprocessing.enqueue(kb_ids), completed=0, failed=0)
        columns = (TextColumn("reprocessing"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Bar(*columns, console=Console(stderr=True), disable=not show) as bar:
            task = bar.add_task("", total=progress.total)
            if wait:
                async for progress in reprocessing.watch():
                    bar.update(task, completed=progress.completed + progress.failed)
    return progress
