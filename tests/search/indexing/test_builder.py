"""A text is indexed once for each variant, within the service's organization, with real queries and a real model."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from muniment.artifacts.repository import ArtifactRepository
from muniment.artifacts.tables import TextArtifact
from muniment.artifacts.text_packs import TextPackWriter
from muniment.errors import Forbidden
from muniment.search.embedding.local import LocalEmbedder
from muniment.search.embedding.port import Vector
from muniment.search.indexing.builder import PAGES_PER_BATCH, build_index
from muniment.search.indexing.chunking import Chunk, ChunkOptions
from muniment.search.indexing.embedding import PassageEmbedding
from muniment.search.indexing.lexical_form import make_lexical_form
from muniment.search.indexing.repository import BATCH_ROWS, IndexRepository, InstalledModels, NewIndex
from muniment.search.indexing.vectors import VectorRepository
from muniment.search.variants import indexing_variant, variant_for
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.storage.objects.folder.store import FolderObjectStore
from muniment.storage.tasks.port import EmbeddingJob
from muniment.storage.vectors.port import IndexingVariant
from tests.artifacts.artifacts_fixture import ArtifactsFixture, a_key, a_reading
from tests.support.jobs import wait_until
from tests.support.seed import Seed

WAITING = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
VARIANT = IndexingVariant(fingerprint="of the tests", model="a model", dimensions=3)
OTHER = IndexingVariant(fingerprint="another", model="a newer model", dimensions=3)


@pytest.fixture
def artifacts_env(seed: Seed, database: Database, tmp_path: Path) -> ArtifactsFixture:
    return ArtifactsFixture(seed, database, FolderObjectStore(tmp_path))


@pytest.fixture
async def embedder() -> AsyncIterator[LocalEmbedder]:
    embedder = LocalEmbedder(threads=1)
    yield embedder
    await embedder.close()


async def a_text(artifacts_env: ArtifactsFixture, pages: Sequence[str], *, is_shared: bool = False) -> TextArtifact:
    key = a_key(None if is_shared else artifacts_env.owner.organization_id)
    pack = TextPackWriter(key.organization_id)
    new = a_reading(pack, pages)
    await artifacts_env.objects.put(pack.key, pack.getvalue)
    async with artifacts_env.database.service_work(artifacts_env.service) as work:
        full, _ = await ArtifactRepository(work.session).add_once(key, new)
    return full


def an_index(full: TextArtifact, count: int = 2, *, variant: IndexingVariant = VARIANT, text: str = "") -> NewIndex:
    chunks = [Chunk(index // 3 + 1, index, index + 9, text or f"The houses number {index}") for index in range(count)]
    return NewIndex(
        full.id, full.organization_id, variant, chunks, make_lexical_form([chunk.text for chunk in chunks], "english")
    )


async def register(artifacts_env: ArtifactsFixture, *variants: IndexingVariant) -> None:
    async with artifacts_env.database.service_work(artifacts_env.service) as work:
        for variant in variants:
            await IndexRepository(work.session).register_variant(variant)


async def add(artifacts_env: ArtifactsFixture, new: NewIndex, service: Service | None = None) -> tuple[UUID, int, bool]:
    async with artifacts_env.database.service_work(service or artifacts_env.service) as work:
        kept, is_ours = await IndexRepository(work.session).add_once(new)
        return kept.artifact_text_id, kept.total_chunks, is_ours


async def embed(artifacts_env: ArtifactsFixture, embedder: LocalEmbedder, full: TextArtifact) -> None:
    async def go_on(_: float) -> None: ...

    job = EmbeddingJob(full.id, variant_for(embedder).fingerprint, artifacts_env.owner.organization_id)
    await PassageEmbedding(artifacts_env.database, InstalledModels(embedder)).embed(job, go_on)


async def active(artifacts_env: ArtifactsFixture) -> IndexingVariant | None:
    async with artifacts_env.database.work(artifacts_env.owner.principal) as work:
        return await IndexRepository(work.session).find_active_variant()


async def test_the_first_variant_ever_answers_until_the_switch(artifacts_env: ArtifactsFixture) -> None:
    assert await active(artifacts_env) is None
    await register(artifacts_env, VARIANT, VARIANT, OTHER, VARIANT)
    assert await active(artifacts_env) == VARIANT
    async with artifacts_env.database.service_work(artifacts_env.service) as work:
        await IndexRepository(work.session).activate(OTHER.fingerprint)
    assert await active(artifacts_env) == OTHER


async def test_of_two_that_want_to_be_the_first_one_is_and_both_are_known(artifacts_env: ArtifactsFixture) -> None:
    async with artifacts_env.database.service_work(artifacts_env.service) as work:
        await IndexRepository(work.session).register_variant(VARIANT)
        second = asyncio.create_task(register(artifacts_env, OTHER))
        await wait_until(lambda: artifacts_env.seed.one(WAITING) == 1)
    await second
    assert artifacts_env.seed.rows("SELECT fingerprint, is_active FROM indexing_variants ORDER BY 2") == [
        (OTHER.fingerprint, False),
        (VARIANT.fingerprint, True),
    ]


async def test_a_kept_index_has_stems_and_vectors_and_its_places(artifacts_env: ArtifactsFixture) -> None:
    full = await a_text(artifacts_env, ["The only page"])
    await register(artifacts_env, VARIANT)
    assert await add(artifacts_env, an_index(full, 2)) == (full.id, 2, True)
    columns = "organization_id, model, page_number, chunk_index, start_char, end_char, text"
    assert artifacts_env.seed.rows(f"SELECT {columns} FROM artifact_chunks ORDER BY chunk_index") == [
        (full.organization_id, "a model", 1, 0, 0, 9, "The houses number 0"),
        (full.organization_id, "a model", 1, 1, 1, 10, "The houses number 1"),
    ]
    terms = "SELECT organization_id, language, length, tsv::text FROM artifact_terms ORDER BY chunk_index"
    assert artifacts_env.seed.rows(terms) == [
        (full.organization_id, "english", 3, "'0':4 'hous':2 'number':3"),
        (full.organization_id, "english", 3, "'1':4 'hous':2 'number':3"),
    ]
    lexicon = "SELECT organization_id, language, total_length, vocabulary FROM artifact_lexicons"
    assert artifacts_env.seed.rows(lexicon) == [(full.organization_id, "english", 6, " houses number ")]
    state = "SELECT embedded_at IS NULL AND NOT vectors_in_chunks FROM artifact_indexes"
    assert artifacts_env.seed.one(state)
    async with artifacts_env.database.service_work(artifacts_env.service) as work:
        assert await VectorRepository(work.session, full.id, VARIANT.fingerprint).add(0, [[1, 0.5, -0.1]] * 2)
    assert artifacts_env.seed.one("SELECT max(embedding <-> '[1,0.5,-0.1]'::halfvec) FROM artifact_vectors") == 0
    assert artifacts_env.seed.one("SELECT embedded_at IS NOT NULL FROM artifact_indexes")


async def test_more_chunks_than_one_statement_takes_are_all_there(artifacts_env: ArtifactsFixture) -> None:
    full = await a_text(artifacts_env, ["The only page"])
    await register(artifacts_env, VARIANT)
    await add(artifacts_env, an_index(full, BATCH_ROWS + 1))
    numbers = "SELECT count(*), min(chunk_index), max(chunk_index) FROM artifact_chunks"
    assert artifacts_env.seed.rows(numbers) == [(BATCH_ROWS + 1, 0, BATCH_ROWS)]


async def test_the_second_gets_what_the_first_kept(artifacts_env: ArtifactsFixture) -> None:
    full = await a_text(artifacts_env, ["The only page"])
    await register(artifacts_env, VARIANT, OTHER)
    async with artifacts_env.database.service_work(artifacts_env.service) as work:
        await IndexRepository(work.session).add_once(an_index(full, 3))
        second = asyncio.create_task(add(artifacts_env, an_index(full, 2)))
        await wait_until(lambda: artifacts_env.seed.one(WAITING) == 1)
    assert await second == (full.id, 3, False)
    assert await add(artifacts_env, an_index(full, 2, variant=OTHER)) == (full.id, 2, True)
    assert artifacts_env.seed.one("SELECT count(*) FROM artifact_chunks") == 5


async def test_an_index_goes_with_its_text(artifacts_env: ArtifactsFixture) -> None:
    full = await a_text(artifacts_env, ["The only page"])
    await register(artifacts_env, VARIANT)
    await add(artifacts_env, an_index(full))
    artifacts_env.seed.execute("DELETE FROM artifacts_full_text WHERE id = %s", full.id)
    assert (
        artifacts_env.seed.one(
            "SELECT (SELECT count(*) FROM artifact_chunks) + (SELECT count(*) FROM artifact_indexes)"
        )
        == 0
    )


async def test_another_organization_neither_finds_nor_adds(artifacts_env: ArtifactsFixture) -> None:
    full = await a_text(artifacts_env, ["The only page"])
    await register(artifacts_env, VARIANT)
    stranger = Service(uuid4())
    with pytest.raises(Forbidden):
        await add(artifacts_env, an_index(full), stranger)
    await add(artifacts_env, an_index(full))
    async with artifacts_env.database.service_work(stranger) as work:
        assert await IndexRepository(work.session).find(full.id, VARIANT.fingerprint) is None


async def test_a_character_that_postgresql_cannot_keep_becomes_a_blank(artifacts_env: ArtifactsFixture) -> None:
    full = await a_text(artifacts_env, ["The only page"])
    await register(artifacts_env, VARIANT)
    await add(artifacts_env, an_index(full, 1, text='a\0b "quoted" \\ 契約'))
    assert artifacts_env.seed.one("SELECT text FROM artifact_chunks") == 'a b "quoted" \\ 契約'


@pytest.mark.parametrize("is_shared", [False, True])
async def test_a_text_is_indexed_page_by_page_and_its_meaning_is_found(
    artifacts_env: ArtifactsFixture, embedder: LocalEmbedder, is_shared: bool
) -> None:
    pages = [f"Seite {n}: Die Rechnung ist innerhalb von dreißig Tagen zahlbar." for n in range(PAGES_PER_BATCH + 1)]
    pages[5] = ""
    full = await a_text(artifacts_env, pages, is_shared=is_shared)
    new = await build_index(
        artifacts_env.database,
        artifacts_env.objects,
        embedder,
        full,
        organization_id=artifacts_env.owner.organization_id,
    )
    assert (new.lexical_form.language, new.organization_id) == ("german", full.organization_id)
    assert [chunk.text for chunk in new.chunks] == [page for page in pages if page]
    assert [chunk.page_number for chunk in new.chunks] == [n for n, page in enumerate(pages, 1) if page]
    await register(artifacts_env, new.variant)
    await add(artifacts_env, new)
    await embed(artifacts_env, embedder, full)
    query = await embedder.embed_query(pages[7])
    nearest = """SELECT page_number FROM artifact_chunks JOIN artifact_vectors v USING (artifact_text_id, chunk_index)
                  ORDER BY v.embedding::halfvec(384) <=> %s::text::halfvec LIMIT 1"""
    assert artifacts_env.seed.one(nearest, str(query)) == 8


async def test_no_transaction_is_open_while_the_model_computes(artifacts_env: ArtifactsFixture) -> None:
    open_ones: list[int] = []

    class Watched(LocalEmbedder):
        async def embed(self, texts: Sequence[str]) -> list[Vector]:
            busy = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND xact_start IS NOT NULL"
            open_ones.append(artifacts_env.seed.one(f"{busy} AND pid <> pg_backend_pid()"))
            return await super().embed(texts)

    watched = Watched(threads=1)
    full = await a_text(artifacts_env, ["One page", "and another"])
    new = await build_index(
        artifacts_env.database,
        artifacts_env.objects,
        watched,
        full,
        organization_id=artifacts_env.owner.organization_id,
    )
    await register(artifacts_env, new.variant)
    await add(artifacts_env, new)
    await embed(artifacts_env, watched, full)
    await watched.close()
    assert open_ones == [0]


def test_whatever_changes_a_chunk_or_a_vector_is_another_variant(embedder: LocalEmbedder) -> None:
    class Other(LocalEmbedder):
        parameters = {**LocalEmbedder.parameters, "weights": "others"}  # noqa: RUF012

    other = Other()
    variants = [
        indexing_variant(embedder, ChunkOptions()),
        indexing_variant(embedder, ChunkOptions(target_tokens=100)),
        indexing_variant(other, ChunkOptions()),
    ]
    assert len({variant.fingerprint for variant in variants}) == 3
    assert indexing_variant(LocalEmbedder(), ChunkOptions()) == variants[0]
