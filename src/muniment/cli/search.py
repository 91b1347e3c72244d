"""Search commands: `search`, `mcp`, `index status` and `index switch`."""

import asyncio
import signal
from dataclasses import asdict
from typing import Annotated, Literal
from uuid import UUID

import typer

from muniment.cli.output import AsJson, print_json
from muniment.cli.root import app
from muniment.cli.startup import load as _load
from muniment.cli.startup import load_existing as _load_existing

Url = Annotated[
    str | None, typer.Option(envvar="MUNIMENT_URL", help="Address of the server (default: from the settings).")
]


Token = Annotated[
    str | None,
    typer.Option(
        envvar="MUNIMENT_TOKEN", help="API token. Prefer MUNIMENT_TOKEN: arguments are visible to other local users."
    ),
]


@app.command()
def search(
    query: Annotated[
        str,
        typer.Argument(help='Keywords or a question. Use "quotes" for an exact phrase and -word to exclude a word.'),
    ],
    kb: Annotated[list[UUID] | None, typer.Option(help="Only in this knowledge base. Repeat for more.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=50, help="Number of passages to show.")] = 10,
    mode: Annotated[
        Literal["hybrid", "vector", "text"],
        typer.Option(help="Match by meaning (vector), keywords (text) or both (hybrid)."),
    ] = "hybrid",
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Search a running server with an API token."""
    from muniment.cli.search_results import print_results, search_server

    settings = _load()
    found = asyncio.run(
        search_server(url or settings.listening_url, token, query, kb_ids=kb or [], limit=limit, mode=mode)
    )
    print_json(found.model_dump(mode="json")) if as_json else print_results(found, mode)


@app.command()
def mcp(url: Url = None, token: Token = None) -> None:
    """Run an MCP server on stdin/stdout for searching and reading documents."""
    from muniment.cli.api_client import ApiClient
    from muniment.cli.mcp_server import serve

    settings = _load()
    # The default handler ends the process immediately; an orderly shutdown would wait for another line of input.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    asyncio.run(serve(ApiClient(url or settings.listening_url, token)))


index_app = typer.Typer(help="Show or switch the embedding model.")


@index_app.command()
def status(as_json: AsJson = False) -> None:
    """Show the active and the configured model and their coverage."""
    from muniment.cli.index_status import load_status, print_status

    current = asyncio.run(load_status(_load_existing()))
    print_json(asdict(current)) if as_json else print_status(current)


@index_app.command()
def switch(
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Switch even if some documents cannot be found until they are reprocessed.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Activate the configured model for the whole installation."""
    from muniment.cli.index_status import load_status, print_status, switch_model

    settings = _load_existing()
    has_switched = asyncio.run(switch_model(settings, anyway=anyway))
    after = asyncio.run(load_status(settings))
    if as_json:
        print_json({"switched": has_switched, **asdict(after)})
        return
    print("Switched." if has_switched else "Nothing to do: the configured model is already active.")
    print_status(after)
