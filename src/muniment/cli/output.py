"""Output shared by all commands: the `--json` option, JSON and errors about files."""

import json
from typing import Annotated, Any

import typer

from muniment.errors import NotFound

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def print_json(facts: Any) -> None:
    print(json.dumps(facts, indent=2, default=str))


class FileMissing(NotFound):
    """File not found"""
