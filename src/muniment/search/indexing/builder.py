"""Build the index of an artifact: chunks with vectors.

No transaction is open while texts are read and the model computes.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.artifacts.repository import ArtifactRepository
from muniment.artifacts.tables import KEY_COLUMNS, ArtifactPage, ArtifactParagraph, TextArtifact
from muniment.artifacts.text_packs import read_concurrently, read_page_text
from muniment.search.embedding.port import Embedder
from muniment.search.indexing.chunking import TEXT, Chunk, ChunkOptions, ParagraphSpan, SourcePage, make_chunks
from muniment.search.indexing.languages import detect_text_search_config
from muniment.search.indexing.repository import EmbeddedChunk, NewIndex, pack_half_precision
from muniment.search.variants import indexing_variant
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.storage.objects.port import ObjectStore

PAGES_PER_BATCH = 32
"""Pages that are read, split and embedded together: memory grows with this, not with the document."""
PASSAGES_PER_BATCH = 32
"""Passages that are embedded before the caller may interrupt."""
_SAMPLE_CHARACTERS = 20_000
_SAMPLE_CHARACTERS_PER_PAGE = 1_000
"""Limit per page for language detection: the beginnings of many pages tell more than one long appendix."""


def keep_in_memory(page_count: int) -> bool:
    """Return whether a text of this length is indexed in one batch, so that its pages need not be fetched again."""
    return page_count <= PAGES_PER_BATCH


@dataclass(frozen=True)
class EmbeddedBatch:
    """Vectors of consecutive chunks, as they are stored."""

    first_chunk: int
    vectors: Sequence[bytes]
    last_page: int


AfterBatch = Callable[[EmbeddedBatch], Awaitable[None]]
"""Called after each batch. May raise, which interrupts the computation."""


async def _go_on(_: EmbeddedBatch) -> None: ...


async def build_index(
    database: Database,
    objects: ObjectStore,
    embedder: Embedder,
    artifact: TextArtifact,
    *,
    organization_id: UUID,
    pages: Sequence[SourcePage] | None = None,
    known_vectors: Sequence[bytes] = (),
    after_batch: AfterBatch = _go_on,
) -> NewIndex:
    """Compute the chunks and vectors of an artifact for `IndexRepository.add_once`.

    `organization_id` names the organization on whose behalf the work is done; it must be able to see the artifact.
    `pages` are all pages, if the caller has them in memory. `known_vectors` are those of the first chunks, if an
    interrupted computation has left them.
    """
    options = ChunkOptions(max_tokens=embedder.max_tokens)
    chunks: list[EmbeddedChunk] = []
    sample = ""
    fetched = _load_batches(database, objects, artifact, Service(organization_id))
    async for batch in fetched if pages is None else _single_batch(pages):
        for page in batch:
            if len(sample) < _SAMPLE_CHARACTERS:
                sample += page.text[:_SAMPLE_CHARACTERS_PER_PAGE] + "\n"
        new = await _split(batch, embedder, options)
        known = known_vectors[len(chunks) : len(chunks) + len(new)]
        chunks += [EmbeddedChunk(chunk, vector) for chunk, vector in zip(new, known, strict=False)]
        for start in range(len(known), len(new), PASSAGES_PER_BATCH):
            passages = new[start : start + PASSAGES_PER_BATCH]
            vectors = [pack_half_precision(vector) for vector in await embedder.embed([each.text for each in passages])]
            await after_batch(EmbeddedBatch(len(chunks), vectors, passages[-1].page_number))
            chunks += [EmbeddedChunk(chunk, vector) for chunk, vector in zip(passages, vectors, strict=True)]
    language = await asyncio.to_thread(detect_text_search_config, sample)
    return NewIndex(artifact.id, artifact.organization_id, indexing_variant(embedder, options), language, chunks)


async def _split(pages: Sequence[SourcePage], embedder: Embedder, options: ChunkOptions) -> list[Chunk]:
    def split() -> list[Chunk]:
        return [chunk for page in pages for chunk in make_chunks(page, embedder.count_tokens, options)]

    return await asyncio.to_thread(split)


async def _single_batch(pages: Sequence[SourcePage]) -> AsyncIterator[Sequence[SourcePage]]:
    yield pages


async def _load_batches(
    database: Database, objects: ObjectStore, artifact: TextArtifact, service: Service
) -> AsyncIterator[Sequence[SourcePage]]:
    for first in range(1, artifact.total_pages + 1, PAGES_PER_BATCH):
        numbers = range(first, min(first + PAGES_PER_BATCH, artifact.total_pages + 1))
        async with database.service_work(service) as work:
            pages = await _list_page_texts(work.session, artifact, numbers)
            paragraphs = await ArtifactRepository(work.session).list_paragraphs(artifact, numbers)
        spans = {
            number: [_paragraph_span(paragraph) for paragraph in of_page if paragraph.features]
            for number, of_page in groupby(paragraphs, key=lambda paragraph: paragraph.page_number)
        }

        async def read(page: tuple[int, str, str]) -> str:
            _, uri, sha256 = page
            return await read_page_text(objects, uri, sha256)

        texts = await read_concurrently(read, pages)
        yield [
            SourcePage(number, text, spans.get(number, [])) for (number, _, _), text in zip(pages, texts, strict=True)
        ]


async def _list_page_texts(
    session: AsyncSession, artifact: TextArtifact, page_numbers: Sequence[int]
) -> list[tuple[int, str, str]]:
    """Return number, URI and checksum of the pages' texts, without their layouts, which are many times as large."""
    columns = (ArtifactPage.page_number, ArtifactPage.page_text_uri, ArtifactPage.page_text_sha256)
    of_text = select(*columns).filter_by(**{name: getattr(artifact, name) for name in KEY_COLUMNS})
    wanted = of_text.where(ArtifactPage.page_number.in_(page_numbers)).order_by(ArtifactPage.page_number)
    return [(number, uri, sha256) for number, uri, sha256 in await session.execute(wanted)]


def _paragraph_span(paragraph: ArtifactParagraph) -> ParagraphSpan:
    features = paragraph.features or {}
    return ParagraphSpan(features["start"], features["end"], features.get("kind", TEXT))
