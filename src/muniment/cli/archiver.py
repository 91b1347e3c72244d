"""Commands `muniment archiver …`."""

import asyncio
import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

import typer

from muniment.cli.output import AsJson, print_json
from muniment.cli.startup import exit_on_sigterm, load
from muniment.settings import Settings

app = typer.Typer(help="Send queued PDFs to Paperless-ngx.")
dlq = typer.Typer(help="Manage PDFs that could not be sent.")
app.add_typer(dlq, name="dlq", no_args_is_help=True)

Key = Annotated[str, typer.Argument(help="Key of the dead letter, as shown by `muniment archiver dlq list`.")]


@app.command()
def run(as_json: AsJson = False) -> None:
    """Process the queue once, and log JSON to stdout; with --json, the report is the last line. Exit codes: 0 done,
    3 action required (token, address, version or key), 4 something is not responding or accepted nothing, 5 another
    archiver is running."""
    from muniment.archiver import run as run_pass

    report = asyncio.run(run_pass(_load_settings(log_to_stdout=True)))
    if as_json:
        print(json.dumps(report.as_json))
    else:  # beside the log, which others parse
        actions = ", ".join(f"{count} {action.replace('_', ' ')}" for action, count in sorted(report.actions.items()))
        causes = [report.stopped_by.message if report.stopped_by else None, report.stalled]
        lines = [line for line in (actions, *report.warnings, *causes) if line]
        for line in lines or ["Nothing to do."]:
            typer.echo(line, err=True)
    raise typer.Exit(report.outcome)


@app.command()
def watch() -> None:
    """Process the queue every MUNIMENT_ARCHIVER_INTERVAL until stopped, and log JSON to stdout."""
    exit_on_sigterm()
    import uvloop

    from muniment.archiver import run_forever

    uvloop.run(run_forever(_load_settings(log_to_stdout=True)))


@app.command(name="setup")
def set_up(as_json: AsJson = False) -> None:
    """Create tags, document types and custom fields in Paperless and print their IDs."""
    from muniment.archiver import set_up as create_objects

    ids = asyncio.run(create_objects(_load_settings()))
    if as_json:
        print_json(dict(ids))
        return
    for name, object_id in sorted(ids.items()):
        print(f"{object_id:>6}  {name}")


@app.command(name="requeue")
def requeue_failed(
    failed: Annotated[
        bool, typer.Option("--failed", help="All failed documents whose original file Muniment still has.")
    ],
    as_json: AsJson = False,
) -> None:
    """Requeue all failed documents whose original file Muniment still has, including dead letters."""
    from muniment.cli.dead_letters import requeue_failed_handovers

    if not failed:
        raise typer.BadParameter("use --failed, or `muniment archiver dlq requeue KEY` for a single document")
    count = asyncio.run(requeue_failed_handovers(_load_settings()))
    print_json({"requeued": count}) if as_json else print(f"Requeued {count} documents.")


@app.command()
def backfill(
    kb: Annotated[list[UUID] | None, typer.Option(help="Only this knowledge base. Repeat for more.")] = None,
    since: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Only documents uploaded on or after this day (UTC).")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show how many.")] = False,
    as_json: AsJson = False,
) -> None:
    """Queue completed and archived PDFs that were never sent. Resumes after an interruption."""
    from muniment.cli.backfill import format_progress, run_backfill
    from muniment.handover.backfill import BackfillFilter

    criteria = BackfillFilter(tuple(kb or ()), since.replace(tzinfo=UTC) if since else None)
    settings = load().with_secrets()
    progress = asyncio.run(run_backfill(settings, criteria, dry_run=dry_run, show_progress=not as_json))
    print_json(asdict(progress)) if as_json else print(format_progress(progress, dry_run=dry_run))
    raise typer.Exit(1 if progress.failed or progress.is_interrupted else 0)


@dlq.command(name="list")
def list_dead_letters(as_json: AsJson = False) -> None:
    """List all dead letters with their reasons."""
    from muniment.cli.dead_letters import dead_letter_json, load_dead_letters, print_dead_letters

    dead_letters = asyncio.run(load_dead_letters(_load_settings()))
    if as_json:
        print_json([dead_letter_json(dead_letter) for dead_letter in dead_letters])
    else:
        print_dead_letters(dead_letters)


@dlq.command()
def show(key: Key, as_json: AsJson = False) -> None:
    """Show the details of a dead letter."""
    from muniment.cli.dead_letters import dead_letter_json, get_dead_letter

    fields = dead_letter_json(asyncio.run(get_dead_letter(_load_settings(), key)))
    if as_json:
        print_json(fields)
        return
    for name, value in fields.items():
        print(f"{name:<12} {'–' if value is None else value}")


@dlq.command()
def requeue(key: Key) -> None:
    """Put a dead letter back into the queue and reset its attempts."""
    from muniment.cli.dead_letters import requeue_dead_letter

    asyncio.run(requeue_dead_letter(_load_settings(), key))
    print(f"Requeued {key}.")


@dlq.command()
def discard(key: Key, yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False) -> None:
    """Permanently delete a dead letter. The original file in Muniment is kept."""
    from muniment.cli.dead_letters import discard_dead_letter

    if not yes:
        typer.confirm(f"Permanently delete {key}?", abort=True)
    asyncio.run(discard_dead_letter(_load_settings(), key))
    print(f"Deleted {key}.")


def _load_settings(*, log_to_stdout: bool = False) -> Settings:
    """Load the settings with the secrets of this machine, if it has any: the archiver may run on another one."""
    settings = load(log_to_stdout=log_to_stdout)
    return settings.with_secrets(generate=False) if settings.database.is_embedded else settings
