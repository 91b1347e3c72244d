"""docs/design.md#i2 with an index that lies: whatever it proposes, PostgreSQL decides."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import pytest

from muniment.errors import Unavailable
from muniment.search.query.calibrations import CalibrationCache
from muniment.search.query.request import SearchMode, SearchRequest
from muniment.search.query.semantic import MAX_ROUNDS
from muniment.search.query.service import SearchService
from muniment.search.query.similar import SimilarDocuments
from muniment.storage.db.work import Database, Work
from muniment.storage.vectors.pgvector.search import PgvectorSearch
from muniment.storage.vectors.port import Candidate, DocumentCondition, IndexingVariant, Vector
from tests.search.passages_fixture import FakeEmbedder, Passage, PassagesFixture
from tests.support.seed import Person, Seed


class LyingIndex(PgvectorSearch):
    """Proposes the configured candidates for every query."""

    def __init__(self, database: Database, proposals: Sequence[Candidate]) -> None:
        super().__init__(database)
        self.proposals = proposals
        self.rounds = 0

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
        self.rounds += 1
        return self.proposals[offset : offset + limit]


class EndlessIndex(LyingIndex):
    """Never runs out of passages that do not exist."""

    async def nearest(self, *args: Any, limit: int, offset: int = 0, **_: Any) -> Sequence[Candidate]:
        self.rounds += 1
        return [proposal(uuid4()) for _ in range(limit + 7)]


def proposal(document_id: UUID, chunk_index: int = 0, epoch: int | None = None) -> Candidate:
    return Candidate(document_id, chunk_index, epoch, 0.0)


@dataclass
class SemanticSearchFixture:
    database: Database
    passages_env: PassagesFixture
    seed: Seed
    owner: Person
    kb_id: UUID
    embedder: FakeEmbedder = field(default_factory=FakeEmbedder)

    def document(self, kb_id: UUID | None = None, owner: Person | None = None, **columns: Any) -> UUID:
        return self.passages_env.add(kb_id or self.kb_id, owner or self.owner, [Passage("A dog.")], **columns)

    async def found(self, index: PgvectorSearch, **changes: Any) -> list[UUID]:
        searching = SearchService(self.database, index, {self.embedder.model: self.embedder})
        question = SearchRequest(**{"query": "dog", "mode": SearchMode.VECTOR, **changes})
        answer = await searching.search(self.owner.principal, question)
        return [hit.passage.document_id for hit in answer.hits]


@pytest.fixture
def semantic_env(database: Database, passages_env: PassagesFixture, seed: Seed) -> SemanticSearchFixture:
    owner = seed.person()
    return SemanticSearchFixture(database, passages_env, seed, owner, seed.knowledge_base(owner))


async def test_nothing_reaches_a_caller_that_they_may_not_see_now(semantic_env: SemanticSearchFixture) -> None:
    mine = semantic_env.document()
    stranger, colleague = semantic_env.seed.person(), semantic_env.seed.person(semantic_env.owner.organization_id)
    hidden = [
        semantic_env.document(semantic_env.seed.knowledge_base(stranger), stranger),
        semantic_env.document(semantic_env.seed.knowledge_base(colleague), colleague),
        semantic_env.document(status="archived"),
        semantic_env.document(status="failed"),
        semantic_env.document(status="processing"),
        uuid4(),
    ]
    lies = LyingIndex(semantic_env.database, [proposal(document_id) for document_id in [*hidden, mine]])

    for mode in (SearchMode.VECTOR, SearchMode.HYBRID):
        assert await semantic_env.found(lies, mode=mode) == [mine]


async def test_a_document_outside_of_the_named_knowledge_base_is_left_out(semantic_env: SemanticSearchFixture) -> None:
    here, other = (
        semantic_env.document(),
        semantic_env.document(semantic_env.seed.knowledge_base(semantic_env.owner, "Other")),
    )
    lies = LyingIndex(semantic_env.database, [proposal(other), proposal(here)])

    assert await semantic_env.found(lies, kb_ids=[semantic_env.kb_id]) == [here]
    assert await semantic_env.found(lies) == [other, here]


async def test_deleted_documents_and_chunks_that_do_not_exist_are_left_out(semantic_env: SemanticSearchFixture) -> None:
    gone, mine = semantic_env.document(), semantic_env.document()
    semantic_env.seed.execute("DELETE FROM documents WHERE id = %s", gone)
    lies = LyingIndex(semantic_env.database, [proposal(gone), proposal(mine, 99), proposal(mine, -1), proposal(mine)])

    assert await semantic_env.found(lies) == [mine]


async def test_the_same_passage_again_and_again_is_one_hit(semantic_env: SemanticSearchFixture) -> None:
    first, second = semantic_env.document(), semantic_env.document()
    lies = LyingIndex(semantic_env.database, [proposal(first)] * 500 + [proposal(second)])

    assert await semantic_env.found(lies) == [first, second]


async def test_more_is_asked_for_until_the_page_is_full(semantic_env: SemanticSearchFixture) -> None:
    mine = [semantic_env.document() for _ in range(3)]
    lies = LyingIndex(
        semantic_env.database, [proposal(uuid4()) for _ in range(3000)] + [proposal(document) for document in mine]
    )

    assert await semantic_env.found(lies) == mine


async def test_endless_nonsense_ends(semantic_env: SemanticSearchFixture) -> None:
    semantic_env.document()
    lies = EndlessIndex(semantic_env.database, [])

    assert await semantic_env.found(lies) == []
    assert lies.rounds == MAX_ROUNDS


async def test_of_copies_only_those_of_the_live_epoch_count(semantic_env: SemanticSearchFixture) -> None:
    live, stale, unknown = (semantic_env.document(index_epoch=number) for number in (3, 3, None))
    proposals = [
        proposal(stale, epoch=2),
        proposal(stale, epoch=None),
        proposal(unknown, epoch=1),
        proposal(live, epoch=3),
    ]

    assert await semantic_env.found(LyingIndex(semantic_env.database, proposals)) == [live]
    without_epochs = [proposal(document_id) for document_id in (stale, unknown, live)]
    assert set(await semantic_env.found(LyingIndex(semantic_env.database, without_epochs))) == {live, stale, unknown}


async def test_a_right_that_is_taken_away_while_the_index_thinks_counts(semantic_env: SemanticSearchFixture) -> None:
    reader = semantic_env.seed.person(semantic_env.owner.organization_id)
    semantic_env.seed.member(semantic_env.kb_id, reader, "viewer")
    mine = semantic_env.document()

    class Slow(LyingIndex):
        async def nearest(self, *args: Any, **given: Any) -> Sequence[Candidate]:
            semantic_env.seed.execute("DELETE FROM knowledge_base_members WHERE user_id = %s", reader.id)
            return self.proposals

    semantic_env.owner = reader
    assert await semantic_env.found(LyingIndex(semantic_env.database, [proposal(mine)])) == [mine]
    assert await semantic_env.found(Slow(semantic_env.database, [proposal(mine)])) == []


async def test_similar_documents_are_decided_the_same_way(semantic_env: SemanticSearchFixture) -> None:
    stranger = semantic_env.seed.person()
    mine, archived, near = semantic_env.document(), semantic_env.document(status="archived"), semantic_env.document()
    foreign = semantic_env.document(semantic_env.seed.knowledge_base(stranger), stranger)
    lies = LyingIndex(
        semantic_env.database, [proposal(document_id) for document_id in (mine, foreign, archived, near, near, uuid4())]
    )

    hits = await SimilarDocuments(semantic_env.database, lies, semantic_env.owner.principal, CalibrationCache()).find(
        semantic_env.kb_id, mine, limit=10
    )

    assert [hit.passage.document_id for hit in hits] == [near]


async def test_an_index_that_does_not_answer_leaves_the_words(semantic_env: SemanticSearchFixture) -> None:
    class Silent(LyingIndex):
        async def nearest(self, *args: Any, **given: Any) -> Sequence[Candidate]:
            raise Unavailable

    mine, silent = semantic_env.document(), Silent(semantic_env.database, [])
    assert await semantic_env.found(silent, mode=SearchMode.HYBRID) == [mine]
    with pytest.raises(Unavailable):
        await semantic_env.found(silent)
