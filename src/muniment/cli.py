"""The command `muniment`. Each command imports what it needs itself, so that `--help` answers at once."""

import asyncio
import json
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn
from uuid import UUID

import typer
from rich.console import Console
from rich.table import Table

from muniment import __version__, archiver_cli
from muniment.errors import MunimentError
from muniment.settings import Settings
from muniment.settings_loading import load as _load
from muniment.settings_loading import load_existing as _load_existing

app = typer.Typer(
    help="Muniment takes documents in, reads them once, makes them findable, and proves what became of them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
artifacts = typer.Typer(help="What was read from documents, and is shared by those with the same bytes.")
app.add_typer(artifacts, name="artifacts", no_args_is_help=True)
index = typer.Typer(help="What search finds passages with: which model answers, and the switch to another.")
app.add_typer(index, name="index", no_args_is_help=True)
audit = typer.Typer(help="What was done, by whom and when: is the trail as it was written?")
app.add_typer(audit, name="audit", no_args_is_help=True)
receipt = typer.Typer(help="What proves that a document is gone.")
app.add_typer(receipt, name="receipt", no_args_is_help=True)
app.add_typer(archiver_cli.app, name="archiver", no_args_is_help=True)
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


@app.command()
def serve() -> None:
    """Start everything on this machine: PostgreSQL, API and worker. Ctrl-C stops them."""
    from muniment.serve import WayIn
    from muniment.serve import serve as start

    settings = _load()

    def announce(settings: Settings, way_in: WayIn) -> None:
        print(_screen(settings, way_in.email, way_in.link), flush=True)

    raise typer.Exit(start(settings, announce))


@app.command()
def api() -> None:
    """Run the API alone, against a database that `muniment migrate` has prepared."""
    _end_when_told()
    import uvloop

    from muniment.api import run

    uvloop.run(run(_load_without_paperless()))


@app.command()
def worker() -> None:
    """Run one worker. Any number of them share the work."""
    _end_when_told()
    import uvloop

    from muniment.worker import run

    uvloop.run(run(_load_without_paperless()))


@app.command()
def migrate(as_json: AsJson = False) -> None:
    """Bring the database up to this version: roles, tables, policies, and the first account."""
    from muniment.prepare import migrate_with_first_account
    from muniment.serve import sign_in_link
    from muniment.storage.db.version import newest_version

    settings = _load().with_secrets()
    first = migrate_with_first_account(settings)
    link = sign_in_link(settings, first.link_secret) if first else None
    facts = {"version": newest_version(), "first_account": first.email if first else None, "sign_in_link": link}
    if as_json:
        _print_json(facts)
        return
    print(f"The database is at version {facts['version']}.")
    if link:
        print(f"Sign in as {facts['first_account']} by this link, once, within 24 hours:\n  {link}")


@app.command(name="reset-password")
def reset_password(email: str, as_json: AsJson = False) -> None:
    """Take the password of an account away and print a one-time link, for who forgot it and has nobody to ask."""
    from muniment.prepare import new_link_for
    from muniment.serve import sign_in_link

    settings = _load().with_secrets()
    account = new_link_for(settings, email)
    facts = {"email": account.email, "sign_in_link": sign_in_link(settings, account.link_secret)}
    if as_json:
        _print_json(facts)
    else:
        print(f"Sign in as {facts['email']} by this link, once, within 24 hours:\n  {facts['sign_in_link']}")


@app.command()
def settings(as_json: AsJson = False) -> None:
    """Print every setting: its value (secrets hidden), where it came from, and what it means."""
    from muniment.settings_report import describe

    lines = list(describe(_load()))
    if as_json:
        _print_json([asdict(line) for line in lines])
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in ("setting", "value", "from", "meaning"):
        table.add_column(column, overflow="fold", no_wrap=column == "setting")
    for line in lines:
        table.add_row(line.name, line.value or "–", line.origin, line.meaning)
    Console(soft_wrap=not sys.stdout.isatty(), width=None if sys.stdout.isatty() else 200).print(table)


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """Look at every part, and say what is wrong and how to mend it. Ends with 1 if anything is."""
    from muniment.doctor import Finding, examine

    async def look() -> list[Finding]:
        return [finding async for finding in examine(_load_existing)]

    findings = asyncio.run(look())
    if as_json:
        _print_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            print(f"{'ok   ' if finding.is_ok else 'WRONG'}  {finding.part:<9} {finding.detail}")
    raise typer.Exit(0 if all(finding.is_ok for finding in findings) else 1)


@artifacts.command()
def gc(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be removed.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove what no document has shown for MUNIMENT_ARTIFACT_GRACE_DAYS, now instead of within the hour."""
    from muniment.artifacts.collection import Collected
    from muniment.bootstrap.opening import open_stores
    from muniment.bootstrap.removal import build_collection
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
    from muniment.reprocess import queue_and_watch
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
    from muniment.reconcile.subset import parse_share
    from muniment.reconcile_command import reconcile as compare
    from muniment.reconcile_command import show_report

    settings, subset = _load_existing(), parse_share(read_data_subset)
    report = asyncio.run(compare(settings, repair=repair, kb_ids=kb or [], subset=subset, show=not as_json))
    _print_json(report.facts) if as_json else show_report(report)
    raise typer.Exit(report.outcome)


Url = Annotated[
    str | None, typer.Option(envvar="MUNIMENT_URL", help="Address of the server; by default the one of the settings.")
]
Token = Annotated[
    str | None,
    typer.Option(envvar="MUNIMENT_TOKEN", help="An API token; other people on this machine can see it here."),
]


@app.command()
def search(
    query: Annotated[str, typer.Argument(help='Words or a question; "exact phrases" in quotes, -word excludes.')],
    kb: Annotated[list[UUID] | None, typer.Option(help="Only in this knowledge base; may be repeated.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=50, help="Passages to show.")] = 10,
    mode: Annotated[
        Literal["hybrid", "vector", "text"], typer.Option(help="By meaning (vector), by words (text), or both.")
    ] = "hybrid",
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Find passages, as the owner of an API token, on a running server. Ends with 0 also when nothing was found."""
    from muniment.search_command import ask, show

    settings = _load()
    found = asyncio.run(ask(url or settings.listening_url, token, query, kb_ids=kb or [], limit=limit, mode=mode))
    _print_json(found.model_dump(mode="json")) if as_json else show(found, mode)


@app.command()
def mcp(url: Url = None, token: Token = None) -> None:
    """Serve search and reading to an assistant: the Model Context Protocol, on standard input and output."""
    from muniment.mcp_server import serve
    from muniment.search.client import ApiClient

    settings = _load()
    # Ctrl-C ends it at once: in order it would wait for a line of input that may never come.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    asyncio.run(serve(ApiClient(url or settings.listening_url, token)))


@index.command()
def status(as_json: AsJson = False) -> None:
    """Say which model answers, which one is set up, and how many completed documents have passages of each."""
    from muniment.index_command import look, show

    found = asyncio.run(look(_load_existing()))
    _print_json(asdict(found)) if as_json else show(found)


@index.command()
def switch(
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Even if documents are then not found until they are reprocessed.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Let the model that is set up answer from now on, for the whole installation."""
    from muniment.index_command import look, show
    from muniment.index_command import switch as carry_out

    settings = _load_existing()
    was_done = asyncio.run(carry_out(settings, anyway=anyway))
    found = asyncio.run(look(settings))
    if as_json:
        _print_json({"switched": was_done, **asdict(found)})
        return
    print("Switched." if was_done else "Nothing to do: the model that is set up answers already.")
    show(found)


@audit.command(name="verify")
def verify_audit(
    file: Annotated[Path | None, typer.Argument(help="An export (JSON Lines) to check without a server.")] = None,
    key: Annotated[
        str | None, typer.Option(help="The key that must have signed the file: its id or the public key.")
    ] = None,
    chain: Annotated[
        UUID | None, typer.Option(help="Only this organization's trail; nothing but zeros is the installation's.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find whatever was changed, removed or put into another order. Ends with 1 if anything was."""
    from muniment import audit_command

    if file is not None:
        checked = audit_command.verify_export(file, key, show=not as_json)
        lines = audit_command.file_sentences(checked, is_trusted=key is not None)
        _report(lines, [{"is_intact": checked.is_intact, **asdict(checked)}], as_json=as_json)
    verdicts = asyncio.run(audit_command.verify(_load_existing(), chain, show=not as_json))
    told = [line for verdict in verdicts for line in audit_command.sentences(verdict)]
    facts = [{"is_intact": verdict.is_intact, **asdict(verdict)} for verdict in verdicts]
    _report(told, facts, as_json=as_json)


@audit.command(name="replace-key")
def replace_key(as_json: AsJson = False) -> None:
    """Sign with another MUNIMENT_SIGNING_KEY than before, on purpose. What was signed by the old one stays valid."""
    from muniment.audit_command import sign_with_new_key

    was_done = asyncio.run(sign_with_new_key(_load_existing()))
    if as_json:
        _print_json({"replaced": was_done})
    else:
        print("Replaced." if was_done else "Nothing to do: the trail is signed with this key already.")


@receipt.command(name="verify")
def verify_receipt(
    file: Annotated[Path, typer.Argument(help="What GET /api/v1/receipts/{id} answered.")],
    key: Annotated[
        str | None, typer.Option(help="The key that must have signed it: its id, the public key, or a file with it.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check a receipt without a server. Ends with 1, and says what is wrong, unless it is as it was signed."""
    from muniment.receipt_command import sentences, verify

    verified = verify(file, key)
    if as_json:
        _print_json({"valid": True, "key_known": verified.is_key_known, "record": verified.record})
        return
    for sentence in sentences(verified):
        print(sentence)


@app.command()
def version(as_json: AsJson = False) -> None:
    """Print the version."""
    _print_json({"version": __version__}) if as_json else print(__version__)


def main() -> None:
    """What cannot be done is said in a sentence, without a traceback."""
    try:
        app()
    except MunimentError as error:
        print(f"muniment: {error.message}", file=sys.stderr)
        sys.exit(1)


def _end_when_told() -> None:
    """In order also while we still load what we need; later the event loop listens."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))


def _load_without_paperless() -> Settings:
    loaded = _load().with_secrets()
    return loaded.model_copy(update={"archiver": loaded.archiver.without_secrets()})


def _report(lines: Sequence[str], facts: Sequence[Mapping[str, Any]], *, as_json: bool) -> NoReturn:
    """Print what was found, and end with 1 unless all of it is intact."""
    _print_json(facts) if as_json else print("\n".join(lines))
    raise typer.Exit(0 if all(fact["is_intact"] for fact in facts) else 1)


def _print_json(facts: Any) -> None:
    print(json.dumps(facts, indent=2, default=str))


def _screen(settings: Settings, email: str | None, link: str | None) -> str:
    if link:
        sign_in = f"Sign in   {link}\n            (once, within 24 hours, as {email})"
    elif email:
        sign_in = f"Sign in   {settings.base_url}/sign-in as {email}"
    else:
        sign_in = f"Sign in   {settings.base_url}/sign-in"
    return f"""
  Muniment {__version__} is ready.

  Listens   {settings.listening_url}
  {sign_in}
  API       {settings.base_url}/docs
  Data      {settings.server.data_dir}{_database_elsewhere(settings)}

  Ctrl-C stops it. `{_own_name()} doctor` in another terminal says how it is.
"""


def _own_name() -> str:
    """As it was typed, so that it can be typed again."""
    return sys.argv[0] if sys.argv[0].endswith("muniment") else "muniment"


def _database_elsewhere(settings: Settings) -> str:
    """Said when the database is not in the data directory: it belongs to every backup and every removal."""
    from muniment.embedded.pointer import Pointer

    pointer = Pointer.read(settings.server.data_dir) if settings.database.is_embedded else None
    if pointer is None or pointer.cluster.is_relative_to(settings.server.data_dir):
        return ""
    return f"\n  Database  {pointer.cluster.parent}"
