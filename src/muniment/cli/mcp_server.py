"""Model Context Protocol server on standard input and output, for `muniment mcp`.

Every tool calls the HTTP API with one API token, so an assistant sees what the owner of the token sees. Everything that
is not part of the protocol goes to stderr.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Annotated
from uuid import UUID

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field

from muniment import __version__
from muniment.cli.api_client import ApiClient, DocumentInfo, Mode
from muniment.errors import Invalid, MunimentError, NotFound

MAX_CHARACTERS = 60_000
"""Maximum length of one result. Longer documents are returned page by page in several results."""
PAGE_END = "\f"

INSTRUCTIONS = """Search the documents of a Muniment installation and read them.
Cite each passage by document name and page. Pass the IDs from a result to the other tools."""

READ_ONLY = ToolAnnotations(read_only_hint=True, open_world_hint=False)
KbId = Annotated[str, Field(description="ID of the knowledge base, from `search` or `list_knowledge_bases`")]
DocumentId = Annotated[str, Field(description="ID of the document, from `search`")]
Query = Annotated[
    str, Field(description='Keywords or a question. Use "quotes" for an exact phrase and -word to exclude a word')
]
KbIds = Annotated[list[str] | None, Field(description="IDs of knowledge bases (default: all)")]
Limit = Annotated[int, Field(description="Number of passages, at most 50")]
SearchMode = Annotated[Mode, Field(description="Match by meaning (`vector`), keywords (`text`) or both (`hybrid`)")]
PageNumber = Annotated[int, Field(description="Page number, starting at 1")]
FirstPage = Annotated[int, Field(description="First page to return: `next_page` of the previous result")]


class McpPassage(BaseModel):
    document_name: str
    page: int
    snippet: str
    score: float = Field(description="For ordering within this result only")
    kb_id: UUID
    document_id: UUID
    image_url: str | None = Field(description="Image of the page. Requires a sign-in or the token")


class McpSearchResult(BaseModel):
    passages: list[McpPassage]
    mode: Mode = Field(description="Mode that was used: `text` while search by meaning is unavailable")


class McpPageText(BaseModel):
    page: int
    text: str
    is_cut: bool = Field(description="Whether the text of the page was truncated")


class McpDocumentText(BaseModel):
    document_name: str
    kb_id: UUID
    document_id: UUID
    total_pages: int | None
    pages: list[McpPageText]
    next_page: int | None = Field(description="Page to continue with, or null at the end")


class McpPage(McpPageText):
    document_name: str
    kb_id: UUID
    document_id: UUID
    image_url: str | None = Field(description="Null for file types without page images")


class McpKnowledgeBase(BaseModel):
    id: UUID
    name: str
    description: str


class McpKnowledgeBaseList(BaseModel):
    knowledge_bases: list[McpKnowledgeBase]


async def serve(client: ApiClient) -> None:
    """Run the server until standard input ends."""
    async with client:
        await build_server(client).run_stdio_async()


def build_server(client: ApiClient) -> MCPServer[None]:
    tools = McpTools(client)
    server: MCPServer[None] = MCPServer("muniment", instructions=INSTRUCTIONS, version=__version__)
    for tool in (tools.search, tools.document_text, tools.page, tools.list_knowledge_bases):
        server.add_tool(tool, annotations=READ_ONLY)
    return server


class McpTools:
    """Tools of the server. Their docstrings and annotations are what an assistant reads."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    async def search(
        self, query: Query, knowledge_bases: KbIds = None, limit: Limit = 10, mode: SearchMode = "hybrid"
    ) -> McpSearchResult:
        """Find passages in documents, best first. Each result names its document and page for citation."""
        with errors_as_messages():
            kb_ids = [_parse_id(kb_id) for kb_id in knowledge_bases or ()]
            answer = await self._client.search(query, kb_ids=kb_ids, limit=limit, mode=mode)
        passages = []
        for item in answer.items:
            facts = item.model_dump(include=McpPassage.model_fields.keys() - {"image_url"})
            image_url = self._client.absolute_url(item.image_url) if item.image_url else None
            passages.append(McpPassage(**facts, image_url=image_url))
        return McpSearchResult(passages=passages, mode=answer.mode)

    async def document_text(self, kb_id: KbId, document_id: DocumentId, page: FirstPage = 1) -> McpDocumentText:
        """Read a document page by page, starting at `page`. Long documents are returned in several results."""
        with errors_as_messages():
            of_kb, of_document = _parse_id(kb_id), _parse_id(document_id)
            head = await self._client.get_document(of_kb, of_document)
            async with self._client.stream_text(of_kb, of_document) as pieces:
                pages, next_page = await _pages_that_fit(_split_pages(pieces), page)
            if not pages:
                raise NotFound(f"This document has no page {page}")
        return McpDocumentText(**_document_fields(head), total_pages=head.total_pages, pages=pages, next_page=next_page)

    async def page(self, kb_id: KbId, document_id: DocumentId, page: PageNumber) -> McpPage:
        """Read one page, with a link to its image."""
        with errors_as_messages():
            of_kb, of_document = _parse_id(kb_id), _parse_id(document_id)
            head = await self._client.get_document(of_kb, of_document)
            found = await self._client.get_page(of_kb, of_document, page)
        image_url = self._client.image_url(of_kb, of_document, page) if head.has_page_images else None
        text = found.text[:MAX_CHARACTERS]
        is_cut = len(found.text) > len(text)
        return McpPage(**_document_fields(head), page=found.page_number, text=text, is_cut=is_cut, image_url=image_url)

    async def list_knowledge_bases(self) -> McpKnowledgeBaseList:
        """List the knowledge bases that can be searched."""
        with errors_as_messages():
            found = await self._client.list_knowledge_bases()
        heads = [McpKnowledgeBase(id=kb.id, name=kb.name, description=kb.description) for kb in found]
        return McpKnowledgeBaseList(knowledge_bases=heads)


@contextmanager
def errors_as_messages() -> Iterator[None]:
    """Turn errors into messages for the assistant."""
    try:
        yield
    except MunimentError as error:
        raise ToolError(error.message) from None


def _parse_id(typed: str) -> UUID:
    try:
        return UUID(typed)
    except ValueError:
        raise Invalid(f"{typed[:50]!r} is not an ID. Use one from `search` or `list_knowledge_bases`") from None


def _document_fields(head: DocumentInfo) -> dict[str, object]:
    return {"document_name": head.name, "kb_id": head.kb_id, "document_id": head.id}


async def _split_pages(pieces: AsyncIterator[str]) -> AsyncIterator[McpPageText]:
    """Yield the pages one by one, each truncated to the maximum length of a result."""
    number, text, is_cut = 1, "", False
    async for piece in pieces:
        for index, part in enumerate(piece.split(PAGE_END)):
            if index:
                yield McpPageText(page=number, text=text, is_cut=is_cut)
                number, text, is_cut = number + 1, "", False
            is_cut = is_cut or len(text) + len(part) > MAX_CHARACTERS
            text = (text + part)[:MAX_CHARACTERS]


async def _pages_that_fit(pages: AsyncIterator[McpPageText], first: int) -> tuple[list[McpPageText], int | None]:
    """Return the pages that fit into one result, at least one, and the number of the next page."""
    fitting: list[McpPageText] = []
    room = MAX_CHARACTERS
    async for page in pages:
        room -= len(page.text) if page.page >= first else 0
        if fitting and room < 0:
            return fitting, page.page
        if page.page >= first:
            fitting.append(page)
    return fitting, None
