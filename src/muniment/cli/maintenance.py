"""Maintenance commands: `artifacts gc`, `reprocess` and `reconcile`."""

import asyncio
from dataclasses import asdict
from typing import Annotated
from uuid import UUID

import typer

from muniment.cli.output import AsJson, print_json
from muniment.cli.root import app
from muniment.cli.startup import load as _load
from muniment.cli.startup import load_existing as _load_existing

artifacts_app = typer.Typer(help="Manage extracted results shared by identical files.")


@artifacts_app.command()
def gc(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be deleted.")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete results unused for MUNIMENT_ARTIFACT_GRACE_DAYS now."""
    from muniment.artifacts.garbage_collection import CollectionResult
    from muniment.bootstrap.installation import open_stores
    from muniment.bootstrap.maintenance import build_garbage_collector
    from muniment.storage.db.base import now

    settings = _load().with_secrets()

    async def collect() -> CollectionResult:
        async with open_stores(settings) as stores:
            return await build_garbage_collector(settings, stores).collect(now(), dry_run=dry_run)

    collected = asyncio.run(collect())
    if as_json:
        print_json({"dry_run": dry_run, **asdict(collected)})
        return
    would = "would be " if dry_run else ""
    print(f"{collected.removed} results {would}deleted, {collected.freed_bytes} bytes {would}freed.")
    days = settings.documents.artifact_grace_days
    print(f"{collected.marked} more {would}marked as unused. They are deleted in {days:g} days unless used again.")


@app.command()
def reprocess(
    kb: Annotated[
        list[UUID] | None, typer.Option(help="Only documents in this knowledge base. Repeat for more.")
    ] = None,
    algorithm_version: Annotated[
        int | None, typer.Option(min=1, help="Extraction version to use instead of the newest.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Reapply results that are already current.")] = False,
    wait: Annotated[bool, typer.Option(help="Wait until all have finished.")] = True,
    as_json: AsJson = False,
) -> None:
    """Reprocess completed documents with the current version. Previous results stay available meanwhile."""
    from muniment.cli.reprocessing import reprocess_and_wait
    from muniment.storage.tasks.port import RunRequest

    settings = _load().with_secrets()
    request = RunRequest(force=force, algorithm_version=algorithm_version)
    progress = asyncio.run(reprocess_and_wait(settings, kb or [], request, wait=wait, show=not as_json))
    if as_json:
        print_json(asdict(progress))
    else:
        print(f"{progress.total} documents queued, {progress.completed} processed, {progress.failed} failed.")
    raise typer.Exit(1 if progress.failed else 0)


@app.command()
def reconcile(
    repair: Annotated[bool, typer.Option("--repair", help="Make safe repairs (default: check only).")] = False,
    kb: Annotated[list[UUID] | None, typer.Option(help="Only this knowledge base. Repeat for more.")] = None,
    read_data_subset: Annotated[
        str, typer.Option(metavar="SHARE", help="Read and verify this share of the stored files, for example 5%.")
    ] = "0%",
    as_json: AsJson = False,
) -> None:
    """Compare the database with files, index and jobs.

    Exits with 0 (consistent), 1 (drift) or 2 (data missing).
    """
    from muniment.cli.reconciliation import print_report
    from muniment.cli.reconciliation import reconcile as compare_stores
    from muniment.reconcile.objects import parse_sample

    settings, sample = _load_existing(), parse_sample(read_data_subset)
    report = asyncio.run(compare_stores(settings, repair=repair, kb_ids=kb or [], sample=sample, show=not as_json))
    print_json(report.as_json) if as_json else print_report(report)
    raise typer.Exit(report.outcome)
