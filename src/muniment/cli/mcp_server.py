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
from muniment.cli.api_client import ApiClient, DocumentHead, Mode
from muniment.errors import Invalid, MunimentError, NotFound

MOST_CHARACTERS = 60_000
"""Of one answer: what a long document has more comes page by page."""
PAGE_END = "\f"

INSTRUCTIONS = """Search the documents of a Muniment installation and read them.
Cite each passage by document name and page. Pass the IDs from a result to the other tools."""

READS_ONLY = ToolAnnotations(read_only_hint=True, open_world_hint=False)
KbId = Annotated[str, Field(description="ID of the knowledge base, from `search` or `list_knowledge_bases`")]
DocumentId = Annotated[str, Field(description="ID of the document, from `search`")]
Query = Annotated[
    str, Field(description='Keywords or a question. Use "quotes" for an exact phrase and -word to exclude a word')
]
KbIds = Annotated[list[str] | None, Field(description="IDs of knowledge bases (default: all)")]
Limit = Annotated[int, Field(description="Number of passages, at most 50")]
Wanted = Annotated[Mode, Field(description="Match by meaning (`vector`), keywords (`text`) or both (`hybrid`)")]
Number = Annotated[int, Field(description="Page number, starting at 1")]
FirstPage = Annotated[int, Field(description="First page to return: `next_page` of the previous result")]


class FoundPassage(BaseModel):
    document_name: str
    page: int
    snippet: str
    score: float = Field(description="For ordering within this result only")
    kb_id: UUID
    document_id: UUID
    image_url: str | None = Field(description="Image of the page. Requires a sign-in or the token")


class Found(BaseModel):
    passages: list[FoundPassage]
    mode: Mode = Field(description="Mode that was used: `text` while search by meaning is unavailable")


class NumberedText(BaseModel):
    page: int
    text: str
    is_cut: bool = Field(description="Whether the text of the page was truncated")


class DocumentText(BaseModel):
    document_name: str
    kb_id: UUID
    document_id: UUID
    total_pages: int | None
    pages: list[NumberedText]
    next_page: int | None = Field(description="Page to continue with, or null at the end")


class Page(NumberedText):
    document_name: str
    kb_id: UUID
    document_id: UUID
    image_url: str | None = Field(description="Null for file types without page images")


class KnowledgeBaseHead(BaseModel):
    id: UUID
    name: str
    description: str


class KnowledgeBases(BaseModel):
    knowledge_bases: list[KnowledgeBaseHead]


async def serve(client: ApiClient) -> None:
    """Until standard input ends."""
    async with client:
        await build_server(client).run_stdio_async()


def build_server(client: ApiClient) -> MCPServer[None]:
    tools = Tools(client)
    server: MCPServer[None] = MCPServer("muniment", instructions=INSTRUCTIONS, version=__version__)
    for tool in (tools.search, tools.document_text, tools.page, tools.list_knowledge_bases):
        server.add_tool(tool, annotations=READS_ONLY)
    return server


class Tools:
    """Their docstrings and annotations are what an assistant is told."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    async def search(
        self, query: Query, knowledge_bases: KbIds = None, limit: Limit = 10, mode: Wanted = "hybrid"
    ) -> Found:
        """Find passages in documents, best first. Each result names its document and page for citation."""
        with said():
            kb_ids = [_id(kb_id) for kb_id in knowledge_bases or ()]
            answer = await self._client.search(query, kb_ids=kb_ids, limit=limit, mode=mode)
        passages = []
        for item in answer.items:
            facts = item.model_dump(include=FoundPassage.model_fields.keys() - {"image_url"})
            image_url = self._client.absolute(item.image_url) if item.image_url else None
            passages.append(FoundPassage(**facts, image_url=image_url))
        return Found(passages=passages, mode=answer.mode)

    async def document_text(self, kb_id: KbId, document_id: DocumentId, page: FirstPage = 1) -> DocumentText:
        """Read a document page by page, starting at `page`. Long documents are returned in several results."""
        with said():
            of_kb, of_document = _id(kb_id), _id(document_id)
            head = await self._client.document(of_kb, of_document)
            async with self._client.text(of_kb, of_document) as pieces:
                pages, next_page = await _excerpt(_split(pieces), page)
            if not pages:
                raise NotFound(f"This document has no page {page}")
        return DocumentText(**_named(head), total_pages=head.total_pages, pages=pages, next_page=next_page)

    async def page(self, kb_id: KbId, document_id: DocumentId, page: Number) -> Page:
        """Read one page, with a link to its image."""
        with said():
            of_kb, of_document = _id(kb_id), _id(document_id)
            head = await self._client.document(of_kb, of_document)
            found = await self._client.page(of_kb, of_document, page)
        image_url = self._client.image_url(of_kb, of_document, page) if head.has_pictures else None
        text = found.text[:MOST_CHARACTERS]
        is_cut = len(found.text) > len(text)
        return Page(**_named(head), page=found.page_number, text=text, is_cut=is_cut, image_url=image_url)

    async def list_knowledge_bases(self) -> KnowledgeBases:
        """List the knowledge bases that can be searched."""
        with said():
            found = await self._client.list_knowledge_bases()
        heads = [KnowledgeBaseHead(id=kb.id, name=kb.name, description=kb.description) for kb in found]
        return KnowledgeBases(knowledge_bases=heads)


@contextmanager
def said() -> Iterator[None]:
    """What cannot be done is a sentence that the assistant reads."""
    try:
        yield
    except MunimentError as error:
        raise ToolError(error.message) from None


def _id(typed: str) -> UUID:
    try:
        return UUID(typed)
    except ValueError:
        raise Invalid(f"{typed[:50]!r} is not an ID. Use one from `search` or `list_knowledge_bases`") from None


def _named(head: DocumentHead) -> dict[str, object]:
    return {"document_name": head.name, "kb_id": head.kb_id, "document_id": head.id}


async def _split(pieces: AsyncIterator[str]) -> AsyncIterator[NumberedText]:
    """The pages, one by one. What one has beyond an answer's length is passed over, however long it is."""
    number, kept, is_cut = 1, "", False
    async for piece in pieces:
        for index, part in enumerate(piece.split(PAGE_END)):
            if index:
                yield NumberedText(page=number, text=kept, is_cut=is_cut)
                number, kept, is_cut = number + 1, "", False
            is_cut = is_cut or len(kept) + len(part) > MOST_CHARACTERS
            kept = (kept + part)[:MOST_CHARACTERS]


async def _excerpt(pages: AsyncIterator[NumberedText], first: int) -> tuple[list[NumberedText], int | None]:
    """Those that fit into one answer, at least one, and the number of the next."""
    fitting: list[NumberedText] = []
    room = MOST_CHARACTERS
    async for page in pages:
        room -= len(page.text) if page.page >= first else 0
        if fitting and room < 0:
            return fitting, page.page
        if page.page >= first:
            fitting.append(page)
    return fitting, None
