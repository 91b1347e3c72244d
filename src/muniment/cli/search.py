"""Commands about search: `search`, `mcp`, `index status` and `index switch`."""

import asyncio
import signal
from dataclasses import asdict
from typing import Annotated, Literal
from uuid import UUID

import typer

from muniment.cli.output import AsJson, _print_json
from muniment.cli.root import app
from muniment.cli.startup import load as _load
from muniment.cli.startup import load_existing as _load_existing

Url = Annotated[
    str | None, typer.Option(envvar="MUNIMENT_URL", help="Address of the server; by default the one of the settings.")
]


Token = Annotated[
    str | None,
    typer.Option(envvar="MUNIMENT_TOKEN", help="An API token; other people on this machine can see it here."),
]


@app.command()
def search(
    query: Annotated[str, typer.Argument(help='Words or a question; "exact phrases" in quotes, -word excludes.')],
    kb: Annotated[list[UUID] | None, typer.Option(help="Only in this knowledge base; may be repeated.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=50, help="Passages to show.")] = 10,
    mode: Annotated[
        Literal["hybrid", "vector", "text"], typer.Option(help="By meaning (vector), by words (text), or both.")
    ] = "hybrid",
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Find passages, as the owner of an API token, on a running server. Ends with 0 also when nothing was found."""
    from muniment.cli.search_results import ask, show

    settings = _load()
    found = asyncio.run(ask(url or settings.listening_url, token, query, kb_ids=kb or [], limit=limit, mode=mode))
    _print_json(found.model_dump(mode="json")) if as_json else show(found, mode)


@app.command()
def mcp(url: Url = None, token: Token = None) -> None:
    """Serve search and reading to an assistant: the Model Context Protocol, on standard input and output."""
    from muniment.cli.api_client import ApiClient
    from muniment.cli.mcp_server import serve

    settings = _load()
    # Ctrl-C ends it at once: in order it would wait for a line of input that may never come.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    asyncio.run(serve(ApiClient(url or settings.listening_url, token)))


index = typer.Typer(help="What search finds passages with: which model answers, and the switch to another.")


@index.command()
def status(as_json: AsJson = False) -> None:
    """Say which model answers, which one is set up, and how many completed documents have passages of each."""
    from muniment.cli.index_status import look, show

    found = asyncio.run(look(_load_existing()))
    _print_json(asdict(found)) if as_json else show(found)


@index.command()
def switch(
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Even if documents are then not found until they are reprocessed.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Let the model that is set up answer from now on, for the whole installation."""
    from muniment.cli.index_status import look, show
    from muniment.cli.index_status import switch as carry_out

    settings = _load_existing()
    was_done = asyncio.run(carry_out(settings, anyway=anyway))
    found = asyncio.run(look(settings))
    if as_json:
        _print_json({"switched": was_done, **asdict(found)})
        return
    print("Switched." if was_done else "Nothing to do: the model that is set up answers already.")
    show(found)
