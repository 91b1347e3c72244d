"""Both halves of a query run concurrently; if one fails, nothing of the other is left."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from muniment.search.query.lexical.repository import LexicalRanking, LexicalRepository
from muniment.search.query.request import SearchRequest, SearchScope
from muniment.storage.db.work import Work
from muniment.storage.vectors.pgvector.search import PgvectorSearch
from muniment.storage.vectors.port import Candidate, DocumentCondition, IndexingVariant, Vector
from tests.search.conftest import SearchFixture


class WaitingIndex(PgvectorSearch):
    """Answers only after the lexical search has started."""

    def __init__(self, index: PgvectorSearch, asked: asyncio.Event, error: Exception | None = None) -> None:
        super().__init__(index._database)
        self._asked = asked
        self._error = error

    async def nearest(
        self,
        work: Work[Any],
        model: IndexingVariant,
        kb_ids: Sequence[UUID],
        vector: Vector,
        *,
        limit: int,
        offset: int = 0,
        scope_size: int | None = None,
        documents: DocumentCondition | None = None,
    ) -> Sequence[Candidate]:
        await self._asked.wait()
        if self._error:
            raise self._error
        return await super().nearest(
            work, model, kb_ids, vector, limit=limit, offset=offset, scope_size=scope_size, documents=documents
        )


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Set when the lexical search starts."""
    asked, match = asyncio.Event(), LexicalRepository.rank

    async def noted(repository: LexicalRepository, scope: SearchScope, *, limit: int) -> LexicalRanking:
        asked.set()
        return await match(repository, scope, limit=limit)

    monkeypatch.setattr(LexicalRepository, "rank", noted)
    return asked


async def test_words_are_looked_for_while_the_index_thinks(search_env: SearchFixture, asked: asyncio.Event) -> None:
    document_id = search_env.document("The tenant pays the rent.")
    searching = search_env.api.services.search
    assert isinstance(searching.index, PgvectorSearch)
    waiting = replace(searching, index=WaitingIndex(searching.index, asked))
    answer = await waiting.search(search_env.owner.principal, SearchRequest("rent"))
    assert [hit.passage.document_id for hit in answer.hits] == [document_id]


async def test_an_index_that_breaks_takes_the_other_half_along(search_env: SearchFixture, asked: asyncio.Event) -> None:
    search_env.document("The tenant pays the rent.")
    searching = search_env.api.services.search
    assert isinstance(searching.index, PgvectorSearch)
    broken = replace(searching, index=WaitingIndex(searching.index, asked, ZeroDivisionError()))
    before = asyncio.all_tasks()
    with pytest.raises(ZeroDivisionError):
        await broken.search(search_env.owner.principal, SearchRequest("rent"))
    await asyncio.wait(asyncio.all_tasks() - before, timeout=10) if asyncio.all_tasks() - before else None
    assert asyncio.all_tasks() == before
    assert search_env.api.stores.database.app_engine.pool.checkedout() == 0  # type: ignore[attr-defined]  # of a queue pool
