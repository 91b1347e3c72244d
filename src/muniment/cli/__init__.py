"""The `muniment` command. Each command imports what it needs when it runs, so that `--help` stays fast."""

import sys

from muniment.cli import archiver, audit, doctor, maintenance, search, server, settings
from muniment.cli.root import app
from muniment.errors import MunimentError

COMMANDS = (server, settings, doctor, maintenance, search)
"""Modules that add their commands to `app` when they are imported."""

app.add_typer(maintenance.artifacts_app, name="artifacts", no_args_is_help=True)
app.add_typer(search.index_app, name="index", no_args_is_help=True)
app.add_typer(audit.audit_app, name="audit", no_args_is_help=True)
app.add_typer(audit.receipt_app, name="receipt", no_args_is_help=True)
app.add_typer(archiver.app, name="archiver", no_args_is_help=True)


def main() -> None:
    """Run a command. Errors are reported in one sentence, without a traceback."""
    try:
        app()
    except MunimentError as error:
        print(f"muniment: {error.message}", file=sys.stderr)
        sys.exit(1)
