"""Run a server or prepare its database: `serve`, `api`, `worker`, `migrate`, `reset-password` and `version`."""

import sys
from typing import Annotated

import typer

from muniment import __version__
from muniment.cli.output import AsJson, print_json
from muniment.cli.root import app
from muniment.cli.startup import exit_on_sigterm, garbage_collection_paused, load_existing
from muniment.cli.startup import load as _load
from muniment.settings import Settings


@app.command()
def serve() -> None:
    """Run PostgreSQL, API and worker on this machine. Stop with Ctrl-C."""
    from muniment.serve import SignInHint
    from muniment.serve import serve as start

    settings = _load()

    def announce(settings: Settings, hint: SignInHint) -> None:
        print(startup_banner(settings, hint.email, hint.link), flush=True)

    raise typer.Exit(start(settings, announce))


@app.command()
def api() -> None:
    """Run only the API. The database must have been prepared with `muniment migrate`."""
    exit_on_sigterm()
    with garbage_collection_paused():
        import uvloop

        from muniment.api import run

    uvloop.run(run(_load_without_archiver_secrets()))


@app.command()
def worker() -> None:
    """Run one worker. Several workers share the work."""
    exit_on_sigterm()
    with garbage_collection_paused():
        import uvloop

        from muniment.worker import run

    uvloop.run(run(_load_without_archiver_secrets()))


@app.command()
def migrate(as_json: AsJson = False) -> None:
    """Create or upgrade the database and the first account."""
    from muniment.bootstrap.migration import migrate_with_first_account
    from muniment.serve import sign_in_link
    from muniment.storage.db.schema_version import newest_version

    settings = _load().with_secrets()
    first = migrate_with_first_account(settings)
    link = sign_in_link(settings, first.link_secret) if first else None
    facts = {"version": newest_version(), "first_account": first.email if first else None, "sign_in_link": link}
    if as_json:
        print_json(facts)
        return
    print(f"Database schema version: {facts['version']}.")
    if link:
        print(f"One-time sign-in link for {facts['first_account']}, valid for 24 hours:\n  {link}")


@app.command(name="reset-password")
def reset_password(
    email: str,
    organization: Annotated[
        str | None,
        typer.Option(help="Organization of the user, by id or exact name, if several have a user with this email."),
    ] = None,
    revoke_tokens: Annotated[
        bool | None,
        typer.Option("--revoke-tokens/--keep-tokens", help="Revoke the API tokens too (default: ask, otherwise yes)."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Remove a user's password, end their sessions and print a one-time sign-in link."""
    from muniment.bootstrap.migration import reset_password_link
    from muniment.serve import sign_in_link

    settings = load_existing()
    if revoke_tokens is None:
        revoke_tokens = as_json or _confirm("Revoke the API tokens of this account too?")
    account = reset_password_link(settings, email, organization=organization, revoke_tokens=revoke_tokens)
    link = sign_in_link(settings, account.link_secret)
    if as_json:
        facts = {"is_active": account.is_active, "revoked_tokens": account.revoked_tokens}
        print_json({"email": account.email, "organization": account.organization_name, "sign_in_link": link, **facts})
        return
    print(f"Sessions ended, {account.revoked_tokens} API tokens revoked.")
    print(f"One-time sign-in link for {account.email} ({account.organization_name}), valid for 24 hours:\n  {link}")
    if not account.is_active:
        print("This account is deactivated. The link works once an admin has activated it again.")


def _confirm(question: str) -> bool:
    """Ask at a terminal. The default is yes, which is also the answer without a terminal."""
    return typer.confirm(question, default=True) if sys.stdin.isatty() else True


@app.command()
def version(as_json: AsJson = False) -> None:
    """Print the version."""
    print_json({"version": __version__}) if as_json else print(__version__)


def startup_banner(settings: Settings, email: str | None, link: str | None) -> str:
    if link:
        sign_in = f"Sign in   {link}\n            (one-time link for {email}, valid for 24 hours)"
    elif email:
        sign_in = f"Sign in   {settings.base_url}/sign-in as {email}"
    else:
        sign_in = f"Sign in   {settings.base_url}/sign-in"
    return f"""
  Muniment {__version__} is ready.

  URL       {settings.listening_url}
  {sign_in}
  API       {settings.base_url}/docs
  Data      {settings.server.data_dir}{_external_database_line(settings)}

  Press Ctrl-C to stop. Run `{_program_name()} doctor` in another terminal for a health check.
"""


def _program_name() -> str:
    """Return the program as it was typed, so that it can be typed again."""
    return sys.argv[0] if sys.argv[0].endswith("muniment") else "muniment"


def _external_database_line(settings: Settings) -> str:
    """Name the database folder if it is outside the data directory: it belongs to every backup and removal."""
    from muniment.embedded.postgres_location import LocationFile

    recorded = LocationFile.read(settings.server.data_dir) if settings.database.is_embedded else None
    if recorded is None or recorded.cluster.is_relative_to(settings.server.data_dir):
        return ""
    return f"\n  Database  {recorded.cluster.parent}"


def _load_without_archiver_secrets() -> Settings:
    loaded = _load().with_secrets()
    return loaded.model_copy(update={"archiver": loaded.archiver.without_secrets()})
