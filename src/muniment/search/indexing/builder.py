"""Split the text of an artifact into chunks. No transaction is open while texts are read and split.

The terms by which keywords find the chunks are part of the index. Their vectors are computed later (`embedding.py`):
the text is searchable by keywords before.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import lru_cache
from itertools import groupby
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.artifacts.repository import ArtifactRepository
from muniment.artifacts.tables import KEY_COLUMNS, ArtifactPage, ArtifactParagraph, TextArtifact
from muniment.artifacts.text_packs import read_concurrently, read_page_text
from muniment.search.embedding.port import Embedder
from muniment.search.indexing.chunking import TEXT, Chunk, ChunkOptions, ParagraphSpan, SourcePage, make_chunks
from muniment.search.indexing.languages import SIMPLE, find_text_search_config
from muniment.search.indexing.lexical_form import make_lexical_form
from muniment.search.indexing.repository import IndexRepository, NewIndex
from muniment.search.variants import indexing_variant
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.storage.objects.port import ObjectStore

PAGES_PER_BATCH = 32
"""Pages that are read and split together, before the caller may interrupt."""
_COUNTED_SPANS = 10_000
"""Words and sentences whose token counts are remembered while a batch is split."""
_SAMPLE_CHARACTERS = 20_000
_SAMPLE_CHARACTERS_PER_PAGE = 1_000
"""Limit per page for language detection: the beginnings of many pages tell more than one long appendix."""


def keep_in_memory(page_count: int) -> bool:
    """Return whether a text of this length is indexed in one batch, so that its pages need not be fetched again."""
    return page_count <= PAGES_PER_BATCH


AfterBatch = Callable[[int], Awaitable[None]]
"""Called after each batch of pages with the number of the last one. May raise, which interrupts the work."""


async def _go_on(_: int) -> None: ...


async def build_index(
    database: Database,
    objects: ObjectStore,
    embedder: Embedder,
    artifact: TextArtifact,
    *,
    organization_id: UUID,
    knowledge_base_id: UUID | None = None,
    pages: Sequence[SourcePage] | None = None,
    after_batch: AfterBatch = _go_on,
) -> NewIndex:
    """Split the text of an artifact into chunks that fit the model, for `IndexRepository.add_once`.

    `organization_id` names the organization on whose behalf the work is done; it must be able to see the artifact.
    A text that is too short to tell its language has that of the knowledge base. `pages` are all pages, if the caller
    has them in memory.
    """
    options = ChunkOptions(max_tokens=embedder.max_tokens)
    chunks: list[Chunk] = []
    sample = ""
    fetched = _load_batches(database, objects, artifact, Service(organization_id))
    async for batch in fetched if pages is None else _single_batch(pages):
        for page in batch:
            if len(sample) < _SAMPLE_CHARACTERS:
                sample += page.text[:_SAMPLE_CHARACTERS_PER_PAGE] + "\n"
        chunks += await _split(batch, embedder, options)
        if batch:
            await after_batch(batch[-1].number)
    language = await asyncio.to_thread(find_text_search_config, sample)
    if language is None and knowledge_base_id is not None:
        async with database.service_work(Service(organization_id)) as work:
            language = await IndexRepository(work.session).find_usual_language(knowledge_base_id)
    language = language or SIMPLE
    form = await asyncio.to_thread(make_lexical_form, [chunk.text for chunk in chunks], language)
    return NewIndex(artifact.id, artifact.organization_id, indexing_variant(embedder, options), chunks, form)


async def _split(pages: Sequence[SourcePage], embedder: Embedder, options: ChunkOptions) -> list[Chunk]:
    # Text without punctuation is counted word by word, and words repeat.
    count_tokens = lru_cache(_COUNTED_SPANS)(embedder.count_tokens)

    def split() -> list[Chunk]:
        return [chunk for page in pages for chunk in make_chunks(page, count_tokens, options)]

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
