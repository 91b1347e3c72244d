"""Query a running server for passages and print them."""

import sys
import unicodedata
from collections.abc import Sequence
from uuid import UUID

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from muniment.cli.api_client import ApiClient, Mode, PassageItem, SearchResponse

PIPE_WIDTH = 5_000
"""Width of output into a pipe; wider than any name and snippet."""
_BIDI_CONTROLS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


async def search_server(
    url: str, token: str | None, query: str, *, kb_ids: Sequence[UUID], limit: int, mode: Mode = "hybrid"
) -> SearchResponse:
    async with ApiClient(url, token) as client:
        return await client.search(query, kb_ids=kb_ids, limit=limit, mode=mode)


def print_results(found: SearchResponse, requested_mode: Mode, console: Console | None = None) -> None:
    """Print a table, or into a pipe one line per passage without colors."""
    console = console or Console(width=None if sys.stdout.isatty() else PIPE_WIDTH)
    console.print(_render(found, requested_mode))


def _render(found: SearchResponse, requested_mode: Mode) -> RenderableType:
    if not found.items:
        return Group("No results.", *_degraded_notice(found, requested_mode))
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("document", overflow="fold")
    table.add_column("page", justify="right")
    table.add_column("passage", overflow="fold")
    table.add_column("score", justify="right")
    for passage in found.items:
        name = Text(_printable(passage.document_name))
        table.add_row(name, str(passage.page), _snippet(passage), f"{passage.score:.3f}")
    return Group(table, *_degraded_notice(found, requested_mode))


def _snippet(passage: PassageItem) -> Text:
    snippet = Text(_printable(passage.snippet))
    for start, end in passage.highlights:
        snippet.stylize("bold yellow", start, end)
    return snippet


def _degraded_notice(found: SearchResponse, requested_mode: Mode) -> Sequence[str]:
    if found.mode == requested_mode:
        return ()
    return ("Keyword matches only: search by meaning is unavailable.",)


def _printable(text: str) -> str:
    """Replace control characters so that a document cannot control the terminal. Positions of highlights stay valid."""
    return "".join(" " if _is_control_character(character) else character for character in text)


def _is_control_character(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cs") or unicodedata.bidirectional(character) in _BIDI_CONTROLS
