"""Commands `muniment archiver …`."""

import asyncio
import json
import signal
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import UUID

import typer

from muniment.cli.startup import load
from muniment.settings import Settings

app = typer.Typer(help="Send queued PDFs to Paperless-ngx.")
dlq = typer.Typer(help="Manage PDFs that could not be sent.")
app.add_typer(dlq, name="dlq", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Key = Annotated[str, typer.Argument(help="Key of the dead letter, as shown by `muniment archiver dlq list`.")]


@app.command()
def run(as_json: AsJson = False) -> None:
    """Process the queue once. Exit codes: 0 done, 3 action required (token, address, version or key), 4 something is
    not responding or accepted nothing, 5 another archiver is running."""
    from muniment.archiver import run as pass_once

    report = asyncio.run(pass_once(_load_settings()))
    if as_json:
        _print_json(report.as_json)
    else:
        done = ", ".join(f"{count} {action.replace('_', ' ')}" for action, count in sorted(report.actions.items()))
        print(done or "Nothing to do.")
        for sentence in [*report.warnings, *([report.stopped_by.message] if report.stopped_by else [])]:
            print(sentence)
    raise typer.Exit(report.outcome)


@app.command()
def watch() -> None:
    """Process the queue every MUNIMENT_ARCHIVER_INTERVAL until stopped."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    import uvloop

    from muniment.archiver import run_forever as pass_often

    uvloop.run(pass_often(_load_settings()))


@app.command(name="setup")
def set_up(as_json: AsJson = False) -> None:
    """Create tags, document types and custom fields in Paperless and print their IDs."""
    from muniment.archiver import set_up as make

    made = asyncio.run(make(_load_settings()))
    if as_json:
        _print_json(dict(made))
        return
    for name, key in sorted(made.items()):
        print(f"{key:>6}  {name}")


@app.command(name="requeue")
def requeue_failed(
    failed: Annotated[
        bool, typer.Option("--failed", help="All failed documents whose original file Muniment still has.")
    ],
    as_json: AsJson = False,
) -> None:
    """Requeue all failed documents whose original file Muniment still has, including dead letters."""
    from muniment.cli.dead_letters import requeue_failed_handovers as carry_out

    if not failed:
        raise typer.BadParameter("use --failed, or `muniment archiver dlq requeue KEY` for a single document")
    count = asyncio.run(carry_out(_load_settings()))
    _print_json({"requeued": count}) if as_json else print(f"Requeued {count} documents.")


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
    from muniment.cli.backfill import format_progress
    from muniment.cli.backfill import run_backfill as carry_out
    from muniment.handover.backfill import BackfillFilter

    chosen = BackfillFilter(tuple(kb or ()), since.replace(tzinfo=UTC) if since else None)
    filled = asyncio.run(carry_out(load().with_secrets(), chosen, dry_run=dry_run, show_progress=not as_json))
    _print_json(asdict(filled)) if as_json else print(format_progress(filled, dry_run=dry_run))
    raise typer.Exit(1 if filled.failed or filled.is_interrupted else 0)


@dlq.command(name="list")
def list_dead_letters(as_json: AsJson = False) -> None:
    """List all dead letters with their reasons."""
    from muniment.cli import dead_letters

    settings = _load_settings()

    async def collect() -> list[Any]:
        return [letter async for letter in dead_letters.iter_dead_letters(settings)]

    letters = asyncio.run(collect())
    if as_json:
        _print_json([dead_letters.dead_letter_json(letter) for letter in letters])
    else:
        dead_letters.print_dead_letters(letters)


@dlq.command()
def show(key: Key, as_json: AsJson = False) -> None:
    """Show the details of a dead letter."""
    from muniment.cli.dead_letters import dead_letter_json, find_dead_letter

    facts = dead_letter_json(asyncio.run(find_dead_letter(_load_settings(), key)))
    if as_json:
        _print_json(facts)
        return
    for name, value in facts.items():
        print(f"{name:<12} {'–' if value is None else value}")


@dlq.command()
def requeue(key: Key) -> None:
    """Put a dead letter back into the queue and reset its attempts."""
    from muniment.cli.dead_letters import requeue_dead_letter as carry_out

    asyncio.run(carry_out(_load_settings(), key))
    print(f"Requeued {key}.")


@dlq.command()
def discard(key: Key, yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False) -> None:
    """Permanently delete a dead letter. The original file in Muniment is kept."""
    from muniment.cli.dead_letters import discard_dead_letter as carry_out

    if not yes:
        typer.confirm(f"Permanently delete {key}?", abort=True)
    asyncio.run(carry_out(_load_settings(), key))
    print(f"Deleted {key}.")


def _load_settings() -> Settings:
    """With what was generated on this machine, if it was here; the archiver may well run on another."""
    loaded = load()
    return loaded.with_secrets(generate=False) if loaded.database.is_embedded else loaded


def _print_json(facts: Any) -> None:
    print(json.dumps(facts, indent=2, default=str))
