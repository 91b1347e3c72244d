"""Vectors of the old form are moved in batches without computing any, and answer all the time."""

from typing import Any

import pytest
from sqlalchemy import text

from muniment.search.indexing.vector_move import BATCH, VectorMove
from muniment.search.indexing.vectors import move_batch
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from tests.search.passages_fixture import MODEL, Passage, PassagesFixture, vector
from tests.support.seed import Person, Seed

DOCUMENTS, CHUNKS = 4, 2500
NEAREST = """
    SELECT document_id, chunk_index FROM passage_vectors WHERE fingerprint = :fingerprint AND model = :model
     ORDER BY embedding <=> CAST(:vector AS halfvec), document_id, chunk_index LIMIT 20
"""
LOOKED_UP = """
    SELECT document_id, chunk_index FROM nearest_passages(
        ARRAY(SELECT id FROM knowledge_bases), :fingerprint, :model, 384, CAST(:vector AS halfvec), 20)
     ORDER BY distance, document_id, chunk_index LIMIT 20
"""
PREVIOUS_VERSION = """
    SELECT document_id, chunk_index FROM passages WHERE fingerprint = :fingerprint AND model = :model
     ORDER BY embedding <=> CAST(:vector AS halfvec), document_id, chunk_index LIMIT 20
"""
"""As an API process of the previous version searches."""


@pytest.fixture
def owner(seed: Seed) -> Person:
    return seed.person()


async def answer(database: Database, owner: Person, statement: str) -> list[Any]:
    values = {"fingerprint": MODEL.fingerprint, "model": MODEL.model, "vector": str(vector(dog=1, sea=0.3))}
    async with database.work(owner.principal) as work:
        return list(await work.session.execute(text(statement), values))


async def test_ten_thousand_passages_are_moved_and_give_the_same_answers(
    database: Database, seed: Seed, owner: Person
) -> None:
    passages_env, kb_id = PassagesFixture(seed), seed.knowledge_base(owner)
    seed.execute("DROP INDEX ix_artifact_chunks_hnsw_local, ix_artifact_vectors_hnsw_local")  # slow to fill
    passages_env.crowd(kb_id, owner, documents=DOCUMENTS, chunks=CHUNKS)
    before = await answer(database, owner, NEAREST)
    assert before == await answer(database, owner, PREVIOUS_VERSION)
    for expected in (BATCH, 2 * BATCH):
        async with database.service_work(Service(owner.organization_id)) as work:
            assert await move_batch(work.session, limit=BATCH) == BATCH
        assert seed.one("SELECT count(*) FROM artifact_vectors") == expected
        assert await answer(database, owner, NEAREST) == before == await answer(database, owner, PREVIOUS_VERSION)

    await VectorMove(database).run()

    assert seed.one("SELECT count(*) FROM artifact_vectors") == DOCUMENTS * CHUNKS
    assert seed.one("SELECT count(*) FROM artifact_indexes WHERE vectors_in_chunks") == 0
    different = """SELECT count(*) FROM artifact_chunks c LEFT JOIN artifact_vectors v
                    USING (artifact_text_id, fingerprint, chunk_index) WHERE c.embedding IS DISTINCT FROM v.embedding"""
    assert seed.one(different) == 0
    assert await answer(database, owner, NEAREST) == before == await answer(database, owner, PREVIOUS_VERSION)


async def test_the_look_up_finds_vectors_of_both_forms(database: Database, seed: Seed, owner: Person) -> None:
    passages_env, kb_id = PassagesFixture(seed), seed.knowledge_base(owner)
    old = passages_env.add(kb_id, owner, [Passage("a dog", {"dog": 1.0})])
    async with database.service_work(Service(owner.organization_id)) as work:
        await move_batch(work.session, limit=BATCH)
    other = passages_env.add(kb_id, owner, [Passage("a dog at sea", {"dog": 1.0, "sea": 1.0})])
    assert seed.one("SELECT count(*) FROM artifact_indexes WHERE vectors_in_chunks") == 1
    assert await answer(database, owner, LOOKED_UP) == [(old, 0), (other, 0)]
    assert await answer(database, owner, NEAREST) == [(old, 0), (other, 0)]


async def test_a_move_that_has_no_time_continues_later(database: Database, seed: Seed, owner: Person) -> None:
    passages_env, kb_id = PassagesFixture(seed), seed.knowledge_base(owner)
    for name in ("one", "two"):
        passages_env.add(kb_id, owner, [Passage(name)], name=name)
    for left in (1, 0):
        await VectorMove(database, seconds=0).run()
        assert seed.one("SELECT count(*) FROM artifact_indexes WHERE vectors_in_chunks") == left


async def test_an_index_of_a_worker_of_the_previous_version_is_complete(
    database: Database, seed: Seed, owner: Person
) -> None:
    passages_env, kb_id = PassagesFixture(seed), seed.knowledge_base(owner)
    document_id = passages_env.add(kb_id, owner, [Passage("a dog", {"dog": 1.0})])
    assert seed.one("SELECT embedded_at IS NOT NULL AND vectors_in_chunks FROM artifact_indexes")
    counts = "SELECT document_id, passages, passages_embedded, is_embedded FROM count_document_passages(ARRAY[:id])"
    async with database.work(owner.principal) as work:
        found = (await work.session.execute(text(counts), {"id": document_id})).all()
    assert found == [(document_id, 1, 1, True)]


async def test_passages_without_vectors_come_last_for_the_previous_version(
    database: Database, seed: Seed, owner: Person
) -> None:
    passages_env, kb_id = PassagesFixture(seed), seed.knowledge_base(owner)
    with_vector = passages_env.add(kb_id, owner, [Passage("a garden", {"garden": 1.0})])
    without = passages_env.add(kb_id, owner, [Passage("a dog", {"dog": 1.0})])
    text_id = seed.one("SELECT artifact_text_id FROM documents WHERE id = %s", without)
    seed.execute("UPDATE artifact_chunks SET embedding = NULL WHERE artifact_text_id = %s", text_id)
    state = "UPDATE artifact_indexes SET vectors_in_chunks = false, embedded_at = NULL WHERE artifact_text_id = %s"
    seed.execute(state, text_id)
    assert await answer(database, owner, PREVIOUS_VERSION) == [(with_vector, 0), (without, 0)]
    assert await answer(database, owner, NEAREST) == [(with_vector, 0)]
    distance = "SELECT count(*) FROM passages WHERE (embedding <=> embedding) IS NULL"
    async with database.work(owner.principal) as work:
        assert await work.session.scalar(text(distance)) == 0
