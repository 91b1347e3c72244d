"""Ask a running server for passages and print them."""

import sys
import unicodedata
from collections.abc import Sequence
from uuid import UUID

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from muniment.cli.api_client import ApiClient, Mode, Passage, Passages

PIPE_WIDTH = 5_000
"""More than a name and a snippet have."""
_TURNS_WRITING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


async def ask(
    url: str, token: str | None, query: str, *, kb_ids: Sequence[UUID], limit: int, mode: Mode = "hybrid"
) -> Passages:
    async with ApiClient(url, token) as client:
        return await client.search(query, kb_ids=kb_ids, limit=limit, mode=mode)


def show(found: Passages, asked: Mode, console: Console | None = None) -> None:
    """As a table for people; into a pipe without colours, each passage in one line."""
    console = console or Console(width=None if sys.stdout.isatty() else PIPE_WIDTH)
    console.print(_rendered(found, asked))


def _rendered(found: Passages, asked: Mode) -> RenderableType:
    if not found.items:
        return Group("No results.", *_caution(found, asked))
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("document", overflow="fold")
    table.add_column("page", justify="right")
    table.add_column("passage", overflow="fold")
    table.add_column("score", justify="right")
    for passage in found.items:
        name = Text(_printable(passage.document_name))
        table.add_row(name, str(passage.page), _snippet(passage), f"{passage.score:.3f}")
    return Group(table, *_caution(found, asked))


def _snippet(passage: Passage) -> Text:
    shown = Text(_printable(passage.snippet))
    for start, end in passage.highlights:
        shown.stylize("bold yellow", start, end)
    return shown


def _caution(found: Passages, asked: Mode) -> Sequence[str]:
    if found.mode == asked:
        return ()
    return ("Keyword matches only: search by meaning is unavailable.",)


def _printable(text: str) -> str:
    """What stands in a document must not steer a terminal. Character for character: the highlights keep their place."""
    return "".join(" " if _steers(character) else character for character in text)


def _steers(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cs") or unicodedata.bidirectional(character) in _TURNS_WRITING
