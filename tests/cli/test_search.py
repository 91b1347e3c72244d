"""`muniment search` and `muniment index`, as a user types them next to a running server."""

import io
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

import pytest
from rich.console import Console

from muniment.cli.api_client import (
    AddressMalformed,
    ApiClient,
    NotMuniment,
    NoToken,
    PassageItem,
    SearchResponse,
    TokenMalformed,
)
from muniment.cli.search_results import print_results
from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.base import new_id
from tests.cli.indexed_document import FIRST, NAME, IndexedDocumentServer, open_server
from tests.cli.test_commands import outside
from tests.support.live_api import RunningApi
from tests.support.running_server import free_port
from tests.support.seed import Seed


@pytest.fixture
async def document_server(
    api: RunningApi, address: DatabaseAddress, seed: Seed, tmp_path: Path
) -> AsyncIterator[IndexedDocumentServer]:
    async with open_server(api, address, seed, tmp_path) as document_server:
        yield document_server


def passages(snippet: str, *highlights: tuple[int, int], name: str = NAME, mode: Any = "hybrid") -> SearchResponse:
    item = PassageItem(
        document_id=UUID(int=1),
        document_name=name,
        kb_id=UUID(int=2),
        page=7,
        snippet=snippet,
        highlights=list(highlights),
        score=0.5,
        image_url=None,
    )
    return SearchResponse(items=[item], mode=mode, took_ms=1)


def shown(found: SearchResponse, *, is_terminal: bool) -> str:
    screen = io.StringIO()
    color: Literal["standard"] | None = "standard" if is_terminal else None
    print_results(found, "hybrid", Console(file=screen, force_terminal=is_terminal, color_system=color, width=100))
    return screen.getvalue()


async def test_a_table_names_document_page_passage_and_score(document_server: IndexedDocumentServer) -> None:
    told = await document_server.run("search", "invoice")
    assert (told.returncode, told.stderr) == (0, "")
    head, first, *_ = told.stdout.splitlines()
    assert head.split() == ["document", "page", "passage", "score"]
    assert first.startswith(NAME)
    assert FIRST in first
    assert first.split()[-1].replace(".", "").isdigit()


async def test_json_carries_the_ids(document_server: IndexedDocumentServer) -> None:
    told = await document_server.run(
        "search", "invoice", "--json", "--limit", "1", "--kb", str(document_server.kb_id), "--mode", "hybrid"
    )
    answer = json.loads(told.stdout)
    (item,) = answer["items"]
    assert (item["document_id"], item["kb_id"], item["page"]) == (
        str(document_server.document_id),
        str(document_server.kb_id),
        1,
    )
    assert answer["mode"] == "hybrid"


async def test_a_stranger_finds_nothing_and_that_is_no_error(
    document_server: IndexedDocumentServer, seed: Seed
) -> None:
    told = await document_server.run("search", "invoice", MUNIMENT_TOKEN=seed.person().token)
    assert (told.returncode, told.stdout, told.stderr) == (0, "No results.\n", "")


async def test_a_knowledge_base_of_another_user_is_not_found(
    document_server: IndexedDocumentServer, seed: Seed
) -> None:
    told = await document_server.run(
        "search", "invoice", "--kb", str(document_server.kb_id), MUNIMENT_TOKEN=seed.person().token
    )
    assert (told.returncode, told.stdout, told.stderr) == (1, "", "muniment: Knowledge base not found\n")


async def test_without_a_token_a_sentence_says_how_to_get_one(document_server: IndexedDocumentServer) -> None:
    told = await document_server.run("search", "invoice", MUNIMENT_TOKEN="")
    assert (told.returncode, told.stdout) == (1, "")
    assert told.stderr.startswith("muniment: No API token. Create one under Account and set MUNIMENT_TOKEN")


async def test_a_token_that_is_not_known_is_refused_without_repeating_it(
    document_server: IndexedDocumentServer,
) -> None:
    told = await document_server.run("search", "invoice", "--token", "mun_hunter2", MUNIMENT_LOG_LEVEL="DEBUG")
    assert told.returncode == 1
    assert "muniment: Invalid API token" in told.stderr
    assert "hunter2" not in told.stderr


async def test_without_a_server_a_sentence_says_where_it_was_looked_for(document_server: IndexedDocumentServer) -> None:
    port = str(free_port())
    told = await document_server.run("search", "invoice", MUNIMENT_URL="", MUNIMENT_PORT=port)
    assert told.returncode == 1
    assert told.stderr.startswith(f"muniment: Cannot connect to Muniment at http://127.0.0.1:{port}. Start it with")
    assert told.stderr.count("\n") == 1


@pytest.mark.parametrize(("query", "sentence"), [("", "q: "), ("x" * 10_000, "q: ")])
async def test_what_the_server_refuses_comes_as_its_sentence(
    document_server: IndexedDocumentServer, query: str, sentence: str
) -> None:
    told = await document_server.run("search", query)
    assert told.returncode == 1
    assert told.stderr.startswith(f"muniment: {sentence}")
    assert told.stderr.count("\n") == 1


async def test_another_server_at_the_address_is_told_apart(document_server: IndexedDocumentServer) -> None:
    async with ApiClient(f"{document_server.api.url}/docs", document_server.token) as client:
        with pytest.raises(NotMuniment):
            await client.list_knowledge_bases()


async def test_all_knowledge_bases_are_listed_beyond_the_first_page(
    document_server: IndexedDocumentServer, seed: Seed
) -> None:
    for number in range(100):
        seed.knowledge_base(document_server.worker_env.owner, f"Number {number}")
    async with ApiClient(document_server.api.url, document_server.token) as client:
        assert len(await client.list_knowledge_bases()) == 101


@pytest.mark.parametrize("token", ["two words", "line\nbreak", "ümlaut", "\x00"])
def test_what_cannot_be_a_token_is_refused_before_it_is_sent(token: str) -> None:
    with pytest.raises(TokenMalformed) as refused:
        ApiClient("http://127.0.0.1:1", token)
    assert token not in str(refused.value)


def test_no_token_is_no_client() -> None:
    with pytest.raises(NoToken):
        ApiClient("http://127.0.0.1:1", None)


@pytest.mark.parametrize(
    "url", ["documents.example.org", "ftp://x", "https://name:secret@x", "http://", "https://x?a=1"]
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(AddressMalformed):
        ApiClient(url, "token")


def test_on_a_terminal_the_terms_are_highlighted() -> None:
    assert "\x1b[1;33minvoice\x1b[0m" in shown(passages("Every invoice is due", (6, 13)), is_terminal=True)


async def test_into_a_pipe_goes_plain_text_with_each_passage_in_one_line(
    document_server: IndexedDocumentServer,
) -> None:
    await document_server.add(
        b"long", ["The ship sails.\nIt carries wine. " * 10], name=f"{'A very long name ' * 10}.pdf"
    )
    told = await document_server.run("search", "ship", "--mode", "text")
    assert "\x1b" not in told.stdout
    (line,) = told.stdout.splitlines()[1:]
    assert "A very long name A very" in line
    assert "wine" in line


def test_what_stands_in_a_document_does_not_steer_the_terminal() -> None:
    said = shown(passages("a\x1b]0;title\x07b\u202ec [red]x[/red]", name="\x1b[2Jname[bold]"), is_terminal=False)
    assert not set(said) & {"\x1b", "\x07", "\u202e"}
    assert "[red]x[/red]" in said
    assert "name[bold]" in said


def test_that_the_model_did_not_answer_is_said() -> None:
    assert "Keyword matches only" in shown(passages("x", mode="text"), is_terminal=False)


async def test_index_status_and_switch_are_refused_and_carried_out(
    document_server: IndexedDocumentServer, address: DatabaseAddress
) -> None:
    environment = outside(address, document_server.folder)
    before = json.loads((await document_server.run("index", "status", "--json", **environment)).stdout)
    assert before["completed_documents"] == 1
    configured, answering = before["variants"]
    assert (configured["model"], configured["documents"], configured["is_configured"]) == (
        "all-MiniLM-L6-v2-int8", 0, True,
    )  # fmt: skip
    assert (answering["model"], answering["documents"], answering["is_active"]) == (
        document_server.worker_env.embedder.model,
        1,
        True,
    )

    refused = await document_server.run("index", "switch", **environment)
    assert refused.returncode == 1
    assert refused.stderr.startswith("muniment: 1 of 1 completed documents are not indexed with all-MiniLM-L6-v2-int8")

    done = await document_server.run("index", "switch", "--anyway", **environment)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "Switched.")
    assert "Run `muniment reprocess`" in " ".join(done.stdout.split())
    again = json.loads((await document_server.run("index", "switch", "--json", **environment)).stdout)
    assert again["switched"] is False
    assert again["variants"][0]["is_active"]


async def test_an_unknown_knowledge_base_is_a_sentence(document_server: IndexedDocumentServer) -> None:
    told = await document_server.run("search", "invoice", "--kb", str(new_id()))
    assert (told.returncode, told.stderr) == (1, "muniment: Knowledge base not found\n")
