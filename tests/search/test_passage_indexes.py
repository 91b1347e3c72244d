"""The views of search are security barriers, and their indexes are used all the same."""

from uuid import UUID

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.search.query.lexical.candidates import CandidateLimits
from muniment.search.query.lexical.repository import LexicalRepository
from muniment.search.query.parser import parse_query
from muniment.search.query.repository import SearchRepository
from muniment.search.query.request import SearchScope
from muniment.storage.db.work import Database
from tests.search.passages_fixture import MODEL, PassagesFixture
from tests.support.seed import Person, Seed

WORDS = "ix_artifact_terms_tsv"
SCANS = "SELECT pg_stat_get_xact_numscans(CAST(:name AS regclass))"
READ = "SELECT pg_stat_get_xact_tuples_fetched(CAST(:name AS regclass))"
"""What the transaction has done so far."""


@pytest.fixture
def owner(seed: Seed) -> Person:
    return seed.person()


@pytest.fixture
def kb_id(seed: Seed, owner: Person) -> UUID:
    return seed.knowledge_base(owner)


async def count(session: AsyncSession, statement: str, name: str) -> int:
    return int((await session.execute(text(statement), {"name": name})).scalar_one())


async def test_words_are_looked_up_in_their_index(
    database: Database, passages_env: PassagesFixture, seed: Seed, owner: Person, kb_id: UUID
) -> None:
    passages_env.crowd(kb_id, owner, documents=60, chunks=10)
    seed.execute("ANALYZE")
    word = seed.one("SELECT split_part(text, ' ', 2) FROM artifact_chunks LIMIT 1")
    async with database.work(owner.principal) as work:
        queries = await SearchRepository(work.session).build_language_queries(MODEL, [kb_id], parse_query(word))
        await work.session.execute(text("SET LOCAL enable_seqscan = off"))
        scans = await count(work.session, SCANS, WORDS)
        lexical = LexicalRepository(work.session, limits=CandidateLimits(scanned=10))
        found = (await lexical.rank(SearchScope(MODEL, [kb_id], queries), limit=10)).hits
        assert await count(work.session, SCANS, WORDS) > scans
    matching = "SELECT count(*) FROM artifact_chunks WHERE text LIKE '%% ' || %s"
    assert 0 < len(found) == seed.one(matching, word) < 20


async def test_a_scan_of_a_small_scope_reads_no_others(
    database: Database, passages_env: PassagesFixture, seed: Seed, owner: Person, kb_id: UUID
) -> None:
    passages_env.crowd(seed.knowledge_base(owner), owner, documents=60, chunks=10)
    passages_env.crowd(kb_id, owner, documents=2, chunks=10)
    seed.execute("ANALYZE")
    async with database.work(owner.principal) as work:
        queries = await SearchRepository(work.session).build_language_queries(MODEL, [kb_id], parse_query("common"))
        before = await count(work.session, READ, "artifact_terms")
        found = (await LexicalRepository(work.session).rank(SearchScope(MODEL, [kb_id], queries), limit=50)).hits
        assert len(found) == 20
        assert await count(work.session, READ, "artifact_terms") - before <= 20


async def test_loading_passages_reads_no_others(
    database: Database, passages_env: PassagesFixture, seed: Seed, owner: Person, kb_id: UUID
) -> None:
    passages_env.crowd(kb_id, owner, documents=60, chunks=10)
    seed.execute("ANALYZE")
    keys = [(document_id, 3) for (document_id,) in seed.rows("SELECT id FROM documents LIMIT 5")]
    async with database.work(owner.principal) as work:
        await work.session.execute(text("SET LOCAL enable_seqscan = off"))
        before = await count(work.session, READ, "artifact_chunks")
        found = await SearchRepository(work.session).load_passages(MODEL, keys)
        assert set(found) == set(keys)
        assert await count(work.session, READ, "artifact_chunks") - before <= 2 * len(keys)
