"""The `muniment` command. Each command imports what it needs when it runs, so that `--help` stays fast."""

import errno
import sys
from typing import NoReturn

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


_STORAGE_ERRORS = {
    errno.ENOSPC: "The disk is full. Free some space and try again",
    errno.EDQUOT: "The disk quota of this user is used up. Free some space and try again",
    errno.EROFS: "The disk is read-only. Check it and mount it with write access",
}
"""Operating system errors that any command can meet, and what to do about them."""


def main() -> None:
    """Run a command. Errors are reported in one sentence, without a traceback."""
    try:
        app()
    except MunimentError as error:
        _fail(error.message)
    except OSError as error:
        if error.errno not in _STORAGE_ERRORS:
            raise
        _fail(f"{_STORAGE_ERRORS[error.errno]}{f': {error.filename}' if error.filename else ''}")


def _fail(message: str) -> NoReturn:
    print(f"muniment: {message}", file=sys.stderr)
    sys.exit(1)
