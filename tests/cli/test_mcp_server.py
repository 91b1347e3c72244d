"""`muniment mcp`, started by the client of the SDK as an assistant does, next to a running server."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client
from mcp.types import CallToolResult, TextContent

from muniment.cli.mcp_server import MAX_CHARACTERS
from muniment.storage.db.address import DatabaseAddress
from tests.cli.indexed_document import FIRST, NAME, SECOND, IndexedDocumentServer, open_server
from tests.support.live_api import RunningApi
from tests.support.seed import Seed


@pytest.fixture
async def document_server(
    api: RunningApi, address: DatabaseAddress, seed: Seed, tmp_path: Path
) -> AsyncIterator[IndexedDocumentServer]:
    async with open_server(api, address, seed, tmp_path) as document_server:
        yield document_server


class Assistant:
    """A client of the protocol."""

    def __init__(self, client: Client, log: Path) -> None:
        self.client, self._log = client, log

    @property
    def log(self) -> str:
        return self._log.read_text()

    async def call(self, tool: str, **arguments: Any) -> Any:
        answer = await self._call(tool, arguments)
        assert not answer.is_error, _said(answer)
        return answer.structured_content

    async def refused(self, tool: str, **arguments: Any) -> str:
        answer = await self._call(tool, arguments)
        assert answer.is_error
        return _said(answer)

    async def _call(self, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        answer = await self.client.call_tool(tool, arguments)
        assert isinstance(answer, CallToolResult)
        return answer


def _said(answer: CallToolResult) -> str:
    (content,) = answer.content
    assert isinstance(content, TextContent)
    return content.text


@asynccontextmanager
async def assistant(document_server: IndexedDocumentServer, **environment: str) -> AsyncIterator[Assistant]:
    log = document_server.folder / "stderr.txt"
    given = document_server.environment(**environment)
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "muniment", "mcp"], env=given, cwd=document_server.folder
    )
    with log.open("w") as errors:
        async with Client(stdio_client(parameters, errlog=errors)) as client:
            yield Assistant(client, log)


async def test_an_assistant_finds_a_passage_and_reads_what_it_cites(document_server: IndexedDocumentServer) -> None:
    async with assistant(document_server, MUNIMENT_LOG_LEVEL="DEBUG") as asking:
        tools = (await asking.client.list_tools()).tools
        assert {tool.name for tool in tools} == {"search", "document_text", "page", "list_knowledge_bases"}
        assert all(tool.description and tool.annotations and tool.annotations.read_only_hint for tool in tools)

        (kb,) = (await asking.call("list_knowledge_bases"))["knowledge_bases"]
        assert (kb["id"], kb["name"]) == (str(document_server.kb_id), "Contracts and invoices")

        found = await asking.call("search", query="invoice", knowledge_bases=[kb["id"]], limit=1)
        assert found["mode"] == "hybrid"
        (passage,) = found["passages"]
        assert (passage["document_name"], passage["page"], passage["snippet"]) == (NAME, 1, FIRST)

        cited = {"kb_id": passage["kb_id"], "document_id": passage["document_id"]}
        page = await asking.call("page", **cited, page=2)
        assert (page["document_name"], page["page"], page["text"]) == (NAME, 2, SECOND)
        place = f"/api/v1/knowledge-bases/{document_server.kb_id}/documents/{document_server.document_id}/pages"
        assert passage["image_url"] == f"{document_server.api.url}{place}/1/image"
        assert page["image_url"] == f"{document_server.api.url}{place}/2/image"

        text = await asking.call("document_text", **cited)
        assert [(item["page"], item["text"]) for item in text["pages"]] == [(1, FIRST), (2, SECOND)]
        assert (text["document_name"], text["total_pages"], text["next_page"]) == (NAME, 2, None)
        later = await asking.call("document_text", **cited, page=2)
        assert [item["page"] for item in later["pages"]] == [2]
    assert document_server.token not in asking.log


async def test_a_strangers_token_sees_nothing(document_server: IndexedDocumentServer, seed: Seed) -> None:
    cited = {"kb_id": str(document_server.kb_id), "document_id": str(document_server.document_id)}
    async with assistant(document_server, MUNIMENT_TOKEN=seed.person().token) as stranger:
        assert await stranger.call("list_knowledge_bases") == {"knowledge_bases": []}
        assert (await stranger.call("search", query="invoice"))["passages"] == []
        named = await stranger.refused("search", query="invoice", knowledge_bases=[str(document_server.kb_id)])
        assert named.endswith("Knowledge base not found")
        for tool, more in (("document_text", {}), ("page", {"page": 1})):
            assert (await stranger.refused(tool, **cited, **more)).endswith("Document not found")


async def test_what_cannot_be_done_is_a_sentence_for_the_assistant(document_server: IndexedDocumentServer) -> None:
    cited = {"kb_id": str(document_server.kb_id), "document_id": str(document_server.document_id)}
    async with assistant(document_server) as asking:
        assert (await asking.refused("page", **cited, page=3)).endswith("Page not found")
        assert (await asking.refused("document_text", **cited, page=3)).endswith("This document has no page 3")
        unknown = {**cited, "document_id": str(uuid4())}
        assert (await asking.refused("document_text", **unknown)).endswith("Document not found")
        assert "is not an ID" in await asking.refused("page", kb_id="../users", document_id="x", page=1)
        assert "q: " in await asking.refused("search", query=" ")
        assert "limit: " in await asking.refused("search", query="invoice", limit=51)


async def test_a_long_document_comes_in_several_answers_and_none_of_it_is_lost(
    document_server: IndexedDocumentServer,
) -> None:
    texts = [f"{number} " + "x" * 20_000 for number in range(1, 6)] + ["y" * (MAX_CHARACTERS + 1), "the end"]
    document_id = await document_server.add(b"long", texts, name="Long.txt", media_type="text/plain")
    cited = {"kb_id": str(document_server.kb_id), "document_id": str(document_id)}
    pages: list[Any] = []
    following: int | None = 1
    async with assistant(document_server) as asking:
        while following is not None:
            answer = await asking.call("document_text", **cited, page=following)
            assert sum(len(page["text"]) for page in answer["pages"]) <= MAX_CHARACTERS
            pages += answer["pages"]
            following = answer["next_page"]
        assert (await asking.call("page", **cited, page=6))["is_cut"]
        assert (await asking.call("page", **cited, page=7))["image_url"] is None
    assert [page["text"] for page in pages] == [*texts[:5], texts[5][:MAX_CHARACTERS], texts[6]]
    assert [page["is_cut"] for page in pages] == [False] * 5 + [True, False]


async def test_a_server_that_is_away_is_said_when_a_tool_is_called(document_server: IndexedDocumentServer) -> None:
    async with assistant(document_server, MUNIMENT_URL="http://127.0.0.1:1") as asking:
        assert "Cannot connect to Muniment at http://127.0.0.1:1" in await asking.refused("search", query="invoice")


async def test_without_a_token_it_does_not_start_and_says_nothing_on_stdout(
    document_server: IndexedDocumentServer,
) -> None:
    told = await document_server.run("mcp", MUNIMENT_TOKEN="")
    assert (told.returncode, told.stdout) == (1, "")
    assert told.stderr.startswith("muniment: No API token")


async def test_it_ends_when_its_input_ends(document_server: IndexedDocumentServer) -> None:
    told = await document_server.run("mcp")
    assert (told.returncode, told.stdout, told.stderr) == (0, "", "")


async def test_it_ends_by_ctrl_c_while_it_waits_for_input(document_server: IndexedDocumentServer) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "muniment", "mcp"),
        env=document_server.environment(),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
    assert await process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert await process.wait() == -signal.SIGINT
