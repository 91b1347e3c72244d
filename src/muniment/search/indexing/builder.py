"""Build the index of an artifact: chunks with vectors.

No transaction is open while texts are read and the model computes.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from itertools import groupby
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.artifacts.repository import ArtifactRepository
from muniment.artifacts.tables import KEY, ArtifactPage, ArtifactParagraph, FullText
from muniment.artifacts.text_packs import read_page
from muniment.search.embedding.port import Embedder
from muniment.search.indexing.chunking import TEXT, Chunk, ChunkOptions, PageSource, Span, make_chunks
from muniment.search.indexing.languages import detect
from muniment.search.indexing.repository import EmbeddedChunk, NewIndex, packed
from muniment.search.variants import indexing_variant
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.storage.objects.port import Blobs

SLICE_PAGES = 32
"""Read, cut and embedded together: memory grows with this, not with the document."""
_READS_AT_ONCE = 8
_SAMPLE_CHARACTERS = 20_000
_SAMPLE_OF_PAGE = 1_000
"""For the language: the beginnings of many pages say more than one long appendix."""


async def index_text(
    database: Database,
    blobs: Blobs,
    embedder: Embedder,
    full: FullText,
    *,
    organization_id: UUID,
    options: ChunkOptions | None = None,
    pages: Sequence[PageSource] | None = None,
) -> NewIndex:
    """What `IndexRepository.add_once` keeps. Computes everything; whoever calls has looked whether it is known.

    `organization_id` is the one on whose behalf the work is done, and must be able to see the text; `pages` are all of
    them, where the caller has them at hand.
    """
    options = options or ChunkOptions(max_tokens=embedder.max_tokens)
    found: list[EmbeddedChunk] = []
    sample = ""
    fetched = _slices(database, blobs, full, Service(organization_id))
    async for some in fetched if pages is None else _at_hand(pages):
        for page in some:
            if len(sample) < _SAMPLE_CHARACTERS:
                sample += page.text[:_SAMPLE_OF_PAGE] + "\n"
        found += await _embed(some, embedder, options)
    language = await asyncio.to_thread(detect, sample)
    return NewIndex(full.id, full.organization_id, indexing_variant(embedder, options), language, found)


async def _embed(pages: Sequence[PageSource], embedder: Embedder, options: ChunkOptions) -> list[EmbeddedChunk]:
    def cut() -> list[Chunk]:
        return [chunk for page in pages for chunk in make_chunks(page, embedder.count_tokens, options)]

    chunks = await asyncio.to_thread(cut)
    vectors = await embedder.embed([chunk.text for chunk in chunks])
    return [EmbeddedChunk(chunk, packed(vector)) for chunk, vector in zip(chunks, vectors, strict=True)]


async def _at_hand(pages: Sequence[PageSource]) -> AsyncIterator[Sequence[PageSource]]:
    yield pages


async def _slices(
    database: Database, blobs: Blobs, full: FullText, service: Service
) -> AsyncIterator[Sequence[PageSource]]:
    for first in range(1, full.total_pages + 1, SLICE_PAGES):
        numbers = range(first, min(first + SLICE_PAGES, full.total_pages + 1))
        async with database.service_work(service) as work:
            places = await _list_places(work.session, full, numbers)
            paragraphs = await ArtifactRepository(work.session).list_paragraphs(full, numbers)
        spans = {
            number: [_span(paragraph) for paragraph in of_page if paragraph.features]
            for number, of_page in groupby(paragraphs, key=lambda paragraph: paragraph.page_number)
        }
        texts = await _read(blobs, places)
        yield [
            PageSource(number, text, spans.get(number, [])) for (number, _, _), text in zip(places, texts, strict=True)
        ]


async def _list_places(session: AsyncSession, full: FullText, numbers: Sequence[int]) -> list[tuple[int, str, str]]:
    """Where the pages' texts are; without their layouts, which are many times as large."""
    columns = (ArtifactPage.page_number, ArtifactPage.page_text_uri, ArtifactPage.page_text_sha256)
    of_text = select(*columns).filter_by(**{name: getattr(full, name) for name in KEY})
    wanted = of_text.where(ArtifactPage.page_number.in_(numbers)).order_by(ArtifactPage.page_number)
    return [(number, uri, sha256) for number, uri, sha256 in await session.execute(wanted)]


async def _read(blobs: Blobs, places: Sequence[tuple[int, str, str]]) -> list[str]:
    texts: list[str] = []
    for start in range(0, len(places), _READS_AT_ONCE):
        group = places[start : start + _READS_AT_ONCE]
        texts += await asyncio.gather(*(read_page(blobs, uri, sha256) for _, uri, sha256 in group))
    return texts


def _span(paragraph: ArtifactParagraph) -> Span:
    features = paragraph.features or {}
    return Span(features["start"], features["end"], features.get("kind", TEXT))
