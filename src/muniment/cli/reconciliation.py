"""Reconcile the stores, show the progress and print the report."""

from collections.abc import Sequence
from types import TracebackType
from typing import Self
from uuid import UUID

from rich.console import Console
from rich.progress import TaskID
from rich.table import Table

from muniment.bootstrap.installation import open_stores
from muniment.bootstrap.maintenance import build_reconciliation
from muniment.cli.output import progress_bar
from muniment.reconcile.objects import ReadSample
from muniment.reconcile.report import DATA_MISSING, Report, store_report
from muniment.settings import Settings
from muniment.storage.db.base import now


class ReconcileProgress:
    """Progress listener with one bar per store that has documents to compare."""

    def __init__(self, *, show: bool) -> None:
        self._progress = progress_bar(show=show)
        self._tasks: dict[str, TaskID] = {}
        self._current, self._pending_total = "", 0

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self._progress.stop()

    def begin(self, what: str, documents: int) -> None:
        self._current, self._pending_total = what, documents

    def advance(self, documents: int) -> None:
        if self._current not in self._tasks:
            self._tasks[self._current] = self._progress.add_task(self._current, total=0)
        task = self._progress.tasks[self._tasks[self._current]]
        # Organizations are visited one after the other, and each adds its documents to the total.
        self._progress.update(task.id, total=(task.total or 0) + self._pending_total, advance=documents)
        self._pending_total = 0


async def reconcile(
    settings: Settings, *, repair: bool, kb_ids: Sequence[UUID], sample: ReadSample, show: bool
) -> Report:
    """Compare all stores and return the report.

    It is stored for `GET /api/v1/reconcile/latest` unless it covers only some knowledge bases.
    """
    async with open_stores(settings) as stores:
        runner = build_reconciliation(settings, stores, sample)
        with ReconcileProgress(show=show) as progress:
            report = await runner.reconcile(now(), repair=repair, kb_ids=kb_ids, listener=progress)
        if not kb_ids:
            await store_report(stores.database, report)
    return report


def print_report(report: Report) -> None:
    console = Console()
    if not report.rows:
        console.print("All stores are consistent.")
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in ("store", "kind", "found", "repaired", "left"):
        table.add_column(column, justify="right" if column in ("found", "repaired", "left") else "left")
    for count in report.rows:
        table.add_row(count.store, count.kind, str(count.found), str(count.repaired), str(count.remaining))
    console.print(table)
    for loss in report.losses:
        console.print(f"LOST  {loss.store} {loss.kind}  document {loss.document_id or '–'}  {loss.key}", soft_wrap=True)
    if report.outcome == DATA_MISSING:
        console.print("Data is missing. Restore these objects from a backup.")
    elif report.remaining and not report.is_repair:
        console.print("Run `muniment reconcile --repair` to make safe repairs.")
