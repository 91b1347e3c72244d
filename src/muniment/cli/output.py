"""Output shared by all commands: the `--json` option, JSON, progress bars and errors about files."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from muniment.errors import NotFound

if TYPE_CHECKING:
    from rich.progress import Progress

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


class FileMissing(NotFound):
    """File not found"""


def print_json(value: Any) -> None:
    """Print a value as indented JSON; UUIDs and times become strings."""
    print(json.dumps(value, indent=2, default=str))


def progress_bar(*, show: bool, transient: bool = False) -> "Progress":
    """Build a progress bar on stderr. A transient one disappears when it ends and is never written to a file."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    is_hidden = not show or (transient and not console.is_terminal)
    return Progress(*columns, console=console, disable=is_hidden, transient=transient)
