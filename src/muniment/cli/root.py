"""The root command group, to which every module of this package adds its commands."""

import typer

app = typer.Typer(
    help="Muniment takes documents in, reads them once, makes them findable, and proves what became of them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
