"""Documents that show a real artifact, stored without a reader, and a client of their owner."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO
from uuid import UUID

import httpx

from muniment.artifacts.keys import ReadingVariant
from muniment.artifacts.repository import ArtifactKey, ArtifactRepository
from muniment.processing.pipeline.artifact_builder import ArtifactBuilder
from muniment.processing.pipeline.publishing import publish
from muniment.processing.readers.contract import (
    Box,
    ExtractedPage,
    ExtractionMethod,
    Figure,
    FigureKind,
    Paragraph,
    ParagraphKind,
    RenderedImage,
    Word,
)
from muniment.processing.runs.repository import ClaimedRun
from muniment.storage.db.base import new_id
from muniment.storage.db.principal import Service
from tests.support.live_api import RunningApi
from tests.support.seed import Person, Seed

FIRST, SECOND = "Rechnung Größe\n\nAbout an invoice.", "Scanned words."
PICTURE = Figure(FigureKind.PICTURE, "ab" * 32, 640, 480, box=(72, 72, 272.128, 222), caption="Figure 1")
DRAWING = Figure(FigureKind.DRAWING, "cd" * 32, 300, 200, source="word/media/image1.png")
PICTURE_KEY, DRAWING_KEY = "p1-" + "ab" * 8, "p2-" + "cd" * 8
PAGES = (
    ExtractedPage(
        1,
        FIRST,
        ExtractionMethod.TEXT,
        paragraphs=(Paragraph(0, 14, ParagraphKind.HEADING, (72, 72, 200, 84)), Paragraph(16, 33)),
        words=(Word(0, 8, (72, 72, 100, 84)), Word(9, 14, (104, 72, 150, 84))),
        figures=(PICTURE,),
        width=595.0,
        height=842.0,
    ),
    ExtractedPage(2, SECOND, ExtractionMethod.OCR, paragraphs=(Paragraph(0, 14),), figures=(DRAWING,), confidence=0.93),
    ExtractedPage(3, "", ExtractionMethod.NONE, problem="The page is damaged."),
)
ORIGINAL = b"bytes of the original"


@dataclass
class FakeRenderer:
    """Renders nothing and records its calls."""

    asked: list[tuple[Any, ...]] = field(default_factory=list)
    error: Exception | None = None
    may_go_on: asyncio.Event = field(default_factory=asyncio.Event)
    at_work: int = 0
    most_at_work: int = 0

    def __post_init__(self) -> None:
        self.may_go_on.set()

    async def render_page(self, file: BinaryIO, media_type: str, page_number: int, width_px: int) -> RenderedImage:
        return await self._draw(file, media_type, page_number, width_px)

    async def render_figure(
        self, file: BinaryIO, media_type: str, page_number: int, box: Box | None, source: str | None
    ) -> RenderedImage:
        return await self._draw(file, media_type, page_number, box, source)

    async def _draw(self, file: BinaryIO, *asked: Any) -> RenderedImage:
        assert file.read() == ORIGINAL
        self.asked.append(asked)
        self.at_work += 1
        self.most_at_work = max(self.most_at_work, self.at_work)
        try:
            await self.may_go_on.wait()
        finally:
            self.at_work -= 1
        if self.error:
            raise self.error
        return RenderedImage(f"picture of {asked}".encode())

    async def close(self) -> None:
        pass


@dataclass(frozen=True)
class ResultsFixture:
    """One knowledge base with its owner and their client."""

    api: RunningApi
    seed: Seed
    owner: Person
    kb_id: UUID
    client: httpx.AsyncClient

    async def document(
        self, pages: Sequence[ExtractedPage] = PAGES, *, status: str = "completed", media_type: str = "application/pdf"
    ) -> UUID:
        """Add a document that shows these pages, with its original in the store."""
        count = self.seed.one("SELECT count(*) FROM documents")
        document_id = self.seed.document(
            self.kb_id, self.owner, name=f"{count}.pdf", status=status, media_type=media_type
        )
        self.seed.set_original(document_id, ORIGINAL)
        await self.api.stores.objects.put(self.original_key(document_id), ORIGINAL)
        await self.publish(document_id, pages)
        return document_id

    def unread(self, status: str) -> UUID:
        return self.seed.document(self.kb_id, self.owner, name="unread.pdf", status=status)

    async def publish(self, document_id: UUID, pages: Sequence[ExtractedPage], *, version: int = 1) -> None:
        """Publish the pages as the end of a run does; another version is a reread."""
        draft = ArtifactBuilder(self.owner.organization_id)
        for page in pages:
            draft.add_page(page)
        await self.api.stores.objects.put(draft.pack.key, draft.pack.getvalue)
        content_key = self.seed.one("SELECT content_hmac FROM documents WHERE id = %s", document_id)
        key = ArtifactKey(self.owner.organization_id, content_key, ReadingVariant(version, "of the tests"))
        run = ClaimedRun(new_id(), self.owner.organization_id, document_id, epoch=1, attempt=1)
        async with self.api.stores.database.service_work(Service(self.owner.organization_id)) as work:
            full, _ = await ArtifactRepository(work.session).add_once(key, draft.build(0.5))
            await publish(work, run, full.id, has_diagrams=False)

    def original_key(self, document_id: UUID) -> str:
        return f"{self.kb_id}/{document_id}/1/original"

    def pack_key(self) -> str:
        return str(self.seed.one("SELECT full_text_uri FROM artifacts_full_text"))

    def path(self, document_id: UUID, place: str) -> str:
        return f"/api/v1/knowledge-bases/{self.kb_id}/documents/{document_id}/{place}"

    async def get(self, document_id: UUID, place: str, **headers: str) -> httpx.Response:
        return await self.client.get(self.path(document_id, place), headers=headers)

    async def json(self, document_id: UUID, place: str) -> Any:
        answer = await self.get(document_id, place)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def patch(self, document_id: UUID, place: str, **changes: Any) -> httpx.Response:
        return await self.client.patch(self.path(document_id, place), json=changes)

    def colleague(self, role: str | None) -> Person:
        person = self.seed.person(self.owner.organization_id)
        if role:
            self.seed.member(self.kb_id, person, role)
        return person
