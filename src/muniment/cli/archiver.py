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

app = typer.Typer(help="The archiver: what was handed over goes to Paperless-ngx.")
dlq = typer.Typer(help="Dead letters: what could not be archived.")
app.add_typer(dlq, name="dlq", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Key = Annotated[str, typer.Argument(help="As `muniment archiver dlq list` shows it.")]


@app.command()
def run(as_json: AsJson = False) -> None:
    """Make one pass over the queue and end: 0 done, 3 a person must act (token, address, version, key), 4 something
    does not answer or accepted nothing, 5 another archiver is at work."""
    from muniment.archiver import run as pass_once

    report = asyncio.run(pass_once(_load()))
    if as_json:
        _print_json(report.facts)
    else:
        done = ", ".join(f"{count} {action.replace('_', ' ')}" for action, count in sorted(report.actions.items()))
        print(done or "Nothing to do.")
        for sentence in [*report.reports, *([report.stopped_by.message] if report.stopped_by else [])]:
            print(sentence)
    raise typer.Exit(report.outcome)


@app.command()
def watch() -> None:
    """Make a pass every MUNIMENT_ARCHIVER_INTERVAL, until it is stopped."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    import uvloop

    from muniment.archiver import watch as pass_often

    uvloop.run(pass_often(_load()))


@app.command(name="setup")
def set_up(as_json: AsJson = False) -> None:
    """Find or make our tags, document types and custom fields in Paperless, and print their ids."""
    from muniment.archiver import set_up as make

    made = asyncio.run(make(_load()))
    if as_json:
        _print_json(dict(made))
        return
    for name, key in sorted(made.items()):
        print(f"{key:>6}  {name}")


@app.command(name="requeue")
def requeue_failed(
    failed: Annotated[bool, typer.Option("--failed", help="Everything that failed and that Muniment still holds.")],
    as_json: AsJson = False,
) -> None:
    """Hand over again what failed and whose original Muniment holds, dead letter or not."""
    from muniment.cli.dead_letters import requeue_failed as carry_out

    if not failed:
        raise typer.BadParameter("say --failed, or `muniment archiver dlq requeue KEY` for one")
    count = asyncio.run(carry_out(_load()))
    _print_json({"requeued": count}) if as_json else print(f"{count} documents are handed over again.")


@app.command()
def backfill(
    kb: Annotated[list[UUID] | None, typer.Option(help="Only this knowledge base; may be repeated.")] = None,
    since: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Only what came in on this day (UTC) or later.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count.")] = False,
    as_json: AsJson = False,
) -> None:
    """Hand over completed and archived PDFs that never were. Once interrupted, it goes on where it ended."""
    from muniment.cli.backfill import backfill as carry_out
    from muniment.cli.backfill import sentence
    from muniment.handover.backfill import Chosen

    chosen = Chosen(tuple(kb or ()), since.replace(tzinfo=UTC) if since else None)
    filled = asyncio.run(carry_out(load().with_secrets(), chosen, dry_run=dry_run, show=not as_json))
    _print_json(asdict(filled)) if as_json else print(sentence(filled, dry_run=dry_run))
    raise typer.Exit(1 if filled.failed or filled.is_interrupted else 0)


@dlq.command(name="list")
def list_letters(as_json: AsJson = False) -> None:
    """Print every dead letter and why it is one."""
    from muniment.cli import dead_letters

    settings = _load()

    async def collect() -> list[Any]:
        return [letter async for letter in dead_letters.list_letters(settings)]

    letters = asyncio.run(collect())
    if as_json:
        _print_json([dead_letters.letter_facts(letter) for letter in letters])
    else:
        dead_letters.show_letters(letters)


@dlq.command()
def show(key: Key, as_json: AsJson = False) -> None:
    """Print what is known of one dead letter."""
    from muniment.cli.dead_letters import find_letter, letter_facts

    facts = letter_facts(asyncio.run(find_letter(_load(), key)))
    if as_json:
        _print_json(facts)
        return
    for name, value in facts.items():
        print(f"{name:<12} {'–' if value is None else value}")


@dlq.command()
def requeue(key: Key) -> None:
    """Put one back into the queue, its count reset."""
    from muniment.cli.dead_letters import requeue as carry_out

    asyncio.run(carry_out(_load(), key))
    print("It waits in the queue again.")


@dlq.command()
def discard(key: Key, yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False) -> None:
    """Delete one for good; an original that Muniment holds stays."""
    from muniment.cli.dead_letters import discard as carry_out

    if not yes:
        typer.confirm(f"Delete {key} for good?", abort=True)
    asyncio.run(carry_out(_load(), key))
    print("It is gone.")


def _load() -> Settings:
    """With what was generated on this machine, if it was here; the archiver may well run on another."""
    loaded = load()
    return loaded.with_secrets(generate=False) if loaded.database.is_embedded else loaded


def _print_json(facts: Any) -> None:
    print(json.dumps(facts, indent=2, default=str))
