"""Queries without meaning: random letters in several scripts, keyboard runs, and random words of other subjects.

They were generated once and are kept as they are, whatever they find.
"""

from pathlib import Path

_LIST = Path(__file__).with_name("data") / "nonsense.tsv"


def read_nonsense() -> list[str]:
    """Return the queries. Each line of the file has a kind and a query."""
    return [line.split("\t")[1] for line in _LIST.read_text().splitlines()]
