"""The two halves of a question are asked at the same time; one that fails leaves nothing of the other behind."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from muniment.search.query.lexical.repository import WordRepository
from muniment.search.query.request import Key, Question, Scope
from muniment.storage.db.work import Work
from muniment.storage.vectors.pgvector.search import PgVectorIndex
from muniment.storage.vectors.port import Candidate, Model, Vector
from tests.search.conftest import Room


class Waiting(PgVectorIndex):
    """Answers when the words have been looked for, and not before."""

    def __init__(self, index: PgVectorIndex, asked: asyncio.Event, error: Exception | None = None) -> None:
        super().__init__(index._database)
        self._asked = asked
        self._error = error

    async def nearest(
        self,
        work: Work[Any],
        model: Model,
        kb_ids: Sequence[UUID],
        vector: Vector,
        *,
        limit: int,
        skip: int = 0,
        among: int | None = None,
    ) -> Sequence[Candidate]:
        await self._asked.wait()
        if self._error:
            raise self._error
        return await super().nearest(work, model, kb_ids, vector, limit=limit, skip=skip, among=among)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Set as soon as words are looked for."""
    asked, match = asyncio.Event(), WordRepository.match

    async def noted(repository: WordRepository, scope: Scope, *, limit: int) -> Sequence[Key]:
        asked.set()
        return await match(repository, scope, limit=limit)

    monkeypatch.setattr(WordRepository, "match", noted)
    return asked


async def test_words_are_looked_for_while_the_index_thinks(room: Room, asked: asyncio.Event) -> None:
    document_id = room.document("The tenant pays the rent.")
    searching = room.api.parts.searching
    assert isinstance(searching.index, PgVectorIndex)
    waiting = replace(searching, index=Waiting(searching.index, asked))
    answer = await waiting.search(room.owner.principal, Question("rent"))
    assert [hit.passage.document_id for hit in answer.hits] == [document_id]


async def test_an_index_that_breaks_takes_the_other_half_along(room: Room, asked: asyncio.Event) -> None:
    room.document("The tenant pays the rent.")
    searching = room.api.parts.searching
    assert isinstance(searching.index, PgVectorIndex)
    broken = replace(searching, index=Waiting(searching.index, asked, ZeroDivisionError()))
    before = asyncio.all_tasks()
    with pytest.raises(ZeroDivisionError):
        await broken.search(room.owner.principal, Question("rent"))
    await asyncio.wait(asyncio.all_tasks() - before, timeout=10) if asyncio.all_tasks() - before else None
    assert asyncio.all_tasks() == before
    assert room.api.stores.database.app_engine.pool.checkedout() == 0  # type: ignore[attr-defined]  # a queue's
