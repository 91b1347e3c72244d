"""pgvector: exact up to a counted size, with the HNSW index above it, and always with the caller's permissions."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import event, text

from muniment.storage.db.work import Database
from muniment.storage.vectors.pgvector.search import PgvectorSearch, to_halfvec
from muniment.storage.vectors.port import Candidate
from tests.search.passages_fixture import MODEL, Passage, PassagesFixture, vector
from tests.support.jobs import wait_until
from tests.support.seed import Person, Seed

INDEX, VECTORS = "ix_artifact_chunks_hnsw_local", "ix_artifact_chunks_vectors_local"


class Statements:
    """Records the statements sent to the database."""

    def __init__(self, database: Database) -> None:
        self.sent: list[tuple[str, Any]] = []
        event.listen(database.app_engine.sync_engine, "before_cursor_execute", self._note)

    def _note(self, _: Any, __: Any, statement: str, parameters: Any, *___: Any) -> None:
        self.sent.append((statement, parameters))

    def last_with(self, part: str) -> tuple[str, Any]:
        return [sent for sent in self.sent if part in sent[0]][-1]


async def nearest(
    database: Database, index: PgvectorSearch, who: Person, kb_ids: Sequence[UUID], **changes: Any
) -> Sequence[Candidate]:
    asked = {"limit": 10, **changes}
    async with database.work(who.principal) as work:
        return await index.nearest(work, MODEL, kb_ids, vector(dog=1, sea=0.3), **asked)


@pytest.fixture
def owner(seed: Seed) -> Person:
    return seed.person()


@pytest.fixture
def kb_id(seed: Seed, owner: Person) -> UUID:
    return seed.knowledge_base(owner)


async def test_the_size_of_the_scope_decides_and_both_ways_agree(
    database: Database, passages_env: PassagesFixture, owner: Person, kb_id: UUID
) -> None:
    passages_env.crowd(kb_id, owner, documents=20, chunks=10)
    statements = Statements(database)

    exact = await nearest(database, PgvectorSearch(database, exact_search_limit=200), owner, [kb_id])
    assert not [sent for sent, _ in statements.sent if "hnsw" in sent]
    approximate = await nearest(database, PgvectorSearch(database, exact_search_limit=199), owner, [kb_id])
    assert [sent for sent, _ in statements.sent if "hnsw.iterative_scan" in sent]

    assert len(exact) == 10
    assert approximate == exact
    assert [candidate.distance for candidate in exact] == sorted(candidate.distance for candidate in exact)


async def test_above_the_threshold_the_index_of_the_model_is_really_used(
    database: Database, passages_env: PassagesFixture, seed: Seed, owner: Person, kb_id: UUID
) -> None:
    passages_env.crowd(kb_id, owner, documents=60, chunks=10)
    seed.execute("ANALYZE")
    statements = Statements(database)
    index = PgvectorSearch(database, exact_search_limit=1)
    for _ in range(8):  # often enough for a prepared statement with a generic plan
        await nearest(database, index, owner, [kb_id])
    statement, parameters = statements.last_with("nearest_passages")
    tune, values = statements.last_with("hnsw.iterative_scan")

    async with database.work(owner.principal) as work:
        connection = await work.session.connection()
        await connection.exec_driver_sql(tune, values)
        await connection.exec_driver_sql(statement, parameters)
        # Its plan is inside a function; the transaction knows what it has scanned.
        scanned = "SELECT pg_stat_get_xact_numscans(%(name)s::regclass)"
        assert await connection.scalar(text(scanned.replace("%(name)s", f"'{INDEX}'"))) > 0
        assert await connection.scalar(text(scanned.replace("%(name)s", "'artifact_chunks'"))) == 0


async def test_what_is_compared_one_by_one_is_read_from_its_index_alone(
    database: Database, passages_env: PassagesFixture, seed: Seed, owner: Person, kb_id: UUID
) -> None:
    seed.execute(f"DROP INDEX {INDEX}")  # not queried here, and slow to fill
    passages_env.crowd(kb_id, owner, documents=10, chunks=10)
    passages_env.crowd(seed.knowledge_base(owner), owner, documents=400, chunks=10)

    def is_vacuumed() -> bool:
        """Return whether vacuum is done; older snapshots delay it."""
        seed.execute("VACUUM ANALYZE artifact_chunks, documents")
        return bool(seed.one("SELECT relallvisible = relpages FROM pg_class WHERE relname = 'artifact_chunks'"))

    await wait_until(is_vacuumed)
    statements = Statements(database)
    for _ in range(8):  # often enough for a prepared statement with a generic plan
        await nearest(database, PgvectorSearch(database), owner, [kb_id])
    statement, parameters = statements.last_with("OFFSET 0")

    async with database.work(owner.principal) as work:
        connection = await work.session.connection()
        for way in ("seqscan", "bitmapscan"):  # which are as fast for so few rows
            await connection.exec_driver_sql(f"SET LOCAL enable_{way} = off")
        plan = "\n".join(row[0] for row in await connection.exec_driver_sql("EXPLAIN " + statement, parameters))
    assert f"Index Only Scan using {VECTORS}" in plan


async def test_who_has_counted_the_scope_is_believed(
    database: Database, passages_env: PassagesFixture, owner: Person, kb_id: UUID
) -> None:
    passages_env.crowd(kb_id, owner, documents=2, chunks=5)
    statements, index = Statements(database), PgvectorSearch(database, exact_search_limit=10)

    await nearest(database, index, owner, [kb_id], scope_size=10)
    assert not [sent for sent, _ in statements.sent if "hnsw" in sent]
    await nearest(database, index, owner, [kb_id], scope_size=11)

    assert [sent for sent, _ in statements.sent if "hnsw.iterative_scan" in sent]
    assert not [sent for sent, _ in statements.sent if "sum(total_chunks)" in sent]


async def test_the_settings_do_not_outlive_the_question(
    database: Database, passages_env: PassagesFixture, owner: Person, kb_id: UUID
) -> None:
    passages_env.crowd(kb_id, owner, documents=2, chunks=5)
    async with database.work(owner.principal) as work:
        await PgvectorSearch(database, exact_search_limit=1).nearest(work, MODEL, [kb_id], vector(dog=1), limit=1)
        assert await work.session.scalar(text("SELECT current_setting('enable_sort')")) == "on"
    async with database.work(owner.principal) as work:
        assert await work.session.scalar(text("SELECT current_setting('hnsw.iterative_scan', true)")) in ("off", None)


@pytest.mark.parametrize("exact_up_to", [0, 50_000])
async def test_nobody_gets_a_passage_of_others_however_near(
    database: Database, passages_env: PassagesFixture, seed: Seed, owner: Person, kb_id: UUID, exact_up_to: int
) -> None:
    stranger = seed.person()
    foreign_kb = seed.knowledge_base(stranger)
    for _ in range(5):
        passages_env.add(foreign_kb, stranger, [Passage("near", {"dog": 1, "sea": 0.3}) for _ in range(60)])
    mine = passages_env.add(kb_id, owner, [Passage("far", {"garden": 1})])
    passages_env.add(kb_id, owner, [Passage("near", {"dog": 1})], status="archived")
    index = PgvectorSearch(database, exact_search_limit=exact_up_to)

    found = await nearest(database, index, owner, [kb_id, foreign_kb])

    assert [candidate.document_id for candidate in found] == [mine]
    assert await nearest(database, index, stranger, [kb_id]) == []


async def test_two_documents_of_the_same_content_are_both_found_through_one_vector(
    database: Database, passages_env: PassagesFixture, seed: Seed, owner: Person, kb_id: UUID
) -> None:
    text_id = passages_env.text(owner.organization_id, [Passage("once")])
    twins = {seed.document(kb_id, owner, name=name, artifact_text_id=text_id) for name in ("a.pdf", "b.pdf")}

    found = await nearest(database, PgvectorSearch(database), owner, [kb_id])

    assert {candidate.document_id for candidate in found} == twins
    assert seed.one("SELECT count(*) FROM artifact_chunks") == 1


def test_a_vector_is_written_as_postgresql_reads_it() -> None:
    assert to_halfvec([0.5, -1e-7, 1]) == "[0.5,-1e-07,1.0]"
