"""Print every setting with its value, origin and meaning, for `muniment settings`."""

import sys
from dataclasses import asdict

from rich.console import Console
from rich.table import Table

from muniment.cli.output import AsJson, print_json
from muniment.cli.root import app
from muniment.cli.startup import load as _load


@app.command()
def settings(as_json: AsJson = False) -> None:
    """List all settings with value, source and meaning (secrets hidden)."""
    from muniment.settings.report import describe

    lines = list(describe(_load()))
    if as_json:
        print_json([asdict(line) for line in lines])
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in ("setting", "value", "source", "meaning"):
        table.add_column(column, overflow="fold", no_wrap=column == "setting")
    for line in lines:
        table.add_row(line.name, line.value or "–", line.origin, line.meaning)
    Console(soft_wrap=not sys.stdout.isatty(), width=None if sys.stdout.isatty() else 200).print(table)
