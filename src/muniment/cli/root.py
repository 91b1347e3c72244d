"""The root command group, to which every module of this package adds its commands."""

import typer

app = typer.Typer(
    help="Self-hosted document platform: process, search, archive and provably delete documents.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
