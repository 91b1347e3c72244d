"""Maintenance commands: `artifacts gc`, `reprocess` and `reconcile`."""

import asyncio
from dataclasses import asdict
from typing import Annotated
from uuid import UUID

import typer

from muniment.cli.output import AsJson, _print_json
from muniment.cli.root import app
from muniment.cli.startup import load as _load
from muniment.cli.startup import load_existing as _load_existing

artifacts = typer.Typer(help="What was read from documents, and is shared by those with the same bytes.")


@artifacts.command()
def gc(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be removed.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove what no document has shown for MUNIMENT_ARTIFACT_GRACE_DAYS, now instead of within the hour."""
    from muniment.artifacts.garbage_collection import Collected
    from muniment.bootstrap.installation import open_stores
    from muniment.bootstrap.maintenance import build_collection
    from muniment.storage.db.base import now

    settings = _load().with_secrets()

    async def collect() -> Collected:
        async with open_stores(settings) as stores:
            return await build_collection(settings, stores).collect(now(), dry_run=dry_run)

    collected = asyncio.run(collect())
    if as_json:
        _print_json({"dry_run": dry_run, **asdict(collected)})
        return
    would = "would be " if dry_run else ""
    print(f"{collected.removed} artifacts {would}removed, {collected.freed_bytes} bytes {would}freed.")
    days = settings.documents.artifact_grace_days
    print(f"{collected.marked} more {would}marked: they go in {days:g} days unless a document shows them again.")


@app.command()
def reprocess(
    kb: Annotated[
        list[UUID] | None, typer.Option(help="Only documents of this knowledge base; may be repeated.")
    ] = None,
    algorithm_version: Annotated[int | None, typer.Option(min=1, help="Another than the newest version.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Take results anew although they are shown already.")] = False,
    wait: Annotated[bool, typer.Option(help="Stay until all of them have ended.")] = True,
    as_json: AsJson = False,
) -> None:
    """Read completed documents anew, with this version's reader. Their old results answer until the new are there."""
    from muniment.cli.reprocessing import queue_and_watch
    from muniment.storage.tasks.port import RunWish

    settings = _load().with_secrets()
    wish = RunWish(force=force, algorithm_version=algorithm_version)
    progress = asyncio.run(queue_and_watch(settings, kb or [], wish, wait=wait, show=not as_json))
    if as_json:
        _print_json(asdict(progress))
    else:
        print(f"{progress.total} documents queued, {progress.completed} read, {progress.failed} failed.")
    raise typer.Exit(1 if progress.failed else 0)


@app.command()
def reconcile(
    repair: Annotated[bool, typer.Option("--repair", help="Put right what is safe; without it, only look.")] = False,
    kb: Annotated[list[UUID] | None, typer.Option(help="Only this knowledge base; may be repeated.")] = None,
    read_data_subset: Annotated[
        str, typer.Option(metavar="SHARE", help="Really read this share of the stored files, 5% say.")
    ] = "0%",
    as_json: AsJson = False,
) -> None:
    """Compare rows, files, passages and jobs. Ends with 0 if nothing is left, 1 if drift is, 2 if data is missing."""
    from muniment.cli.reconciliation import reconcile as compare
    from muniment.cli.reconciliation import show_report
    from muniment.reconcile.objects import parse_share

    settings, subset = _load_existing(), parse_share(read_data_subset)
    report = asyncio.run(compare(settings, repair=repair, kb_ids=kb or [], subset=subset, show=not as_json))
    _print_json(report.facts) if as_json else show_report(report)
    raise typer.Exit(report.outcome)
