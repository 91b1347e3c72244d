"""Filters and sorting over HTTP, in both halves of search."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from muniment.documents.media_types.types import SUPPORTED
from muniment.search.query.filters import MEDIA_TYPES, NO_FILTERS, FileFormat, SearchFilters
from muniment.search.query.request import SearchMode, SearchRequest
from muniment.search.query.service import SearchService
from muniment.storage.vectors.pgvector.search import PgvectorSearch
from tests.search.conftest import SearchFixture
from tests.search.passages_fixture import FakeEmbedder, Passage
from tests.search.query.test_semantic import LyingIndex, proposal

MODES = ("text", "vector", "hybrid")
JUNE = datetime(2026, 6, 15, 12, tzinfo=UTC)
WORD_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def add(search_env: SearchFixture, **columns: Any) -> str:
    return str(search_env.document(Passage("The dog sleeps.", {"dog": 1.0}), **columns))


async def found(search_env: SearchFixture, **parameters: Any) -> set[str]:
    """Return the documents, which must be the same whichever half is asked."""
    answers = [{document for document, _ in await search_env.found("dog", mode=mode, **parameters)} for mode in MODES]
    assert answers[0] == answers[1] == answers[2]
    return answers[0]


def test_every_supported_type_has_one_format() -> None:
    grouped = [media_type for media_types in MEDIA_TYPES.values() for media_type in media_types]
    assert sorted(grouped) == sorted(one.media_type for one in SUPPORTED)
    assert set(MEDIA_TYPES) == set(FileFormat)


def test_without_filters_there_is_no_condition() -> None:
    assert (NO_FILTERS.and_condition(), NO_FILTERS.parameters, NO_FILTERS.document_condition) == ("", {}, None)
    assert not NO_FILTERS.is_active
    assert SearchFilters(uploaded_by=[uuid4()]).and_condition().startswith("AND p.document_id IN (SELECT id FROM")


async def test_the_date_added_includes_the_days_that_are_named(search_env: SearchFixture) -> None:
    may, june, july = (add(search_env, created_at=JUNE + timedelta(days=days)) for days in (-30, 0, 30))

    assert await found(search_env) == {may, june, july}
    assert await found(search_env, added_from="2026-06-15") == {june, july}
    assert await found(search_env, added_to="2026-06-15") == {may, june}
    assert await found(search_env, added_from="2026-06-15", added_to="2026-06-15") == {june}
    assert await found(search_env, added_from="2026-06-15T12:00:01Z") == {july}
    assert await found(search_env, added_from="2027-01-01") == set()


async def test_formats_are_groups_of_types(search_env: SearchFixture) -> None:
    pdf = add(search_env)
    word, mail = add(search_env, media_type=WORD_TYPE), add(search_env, media_type="message/rfc822")
    picture, text = add(search_env, media_type="image/tiff"), add(search_env, media_type="text/markdown")

    by_format = {"pdf": pdf, "office": word, "mail": mail, "image": picture, "text": text}
    for name, document in by_format.items():
        assert await found(search_env, format=name) == {document}
    assert await found(search_env, format=["office", "mail"]) == {word, mail}
    assert await search_env.status(q="dog", format="video") == 422


async def test_by_whom_a_document_was_uploaded(search_env: SearchFixture) -> None:
    colleague = search_env.seed.person(search_env.owner.organization_id)
    search_env.seed.member(search_env.kb_id, colleague, "editor")
    mine, theirs = add(search_env), add(search_env, uploaded_by=colleague.id)

    assert await found(search_env, uploaded_by=str(search_env.owner.id)) == {mine}
    assert await found(search_env, uploaded_by=str(colleague.id)) == {theirs}
    assert await found(search_env, uploaded_by=[str(search_env.owner.id), str(colleague.id)]) == {mine, theirs}
    assert await found(search_env, uploaded_by=str(colleague.id), format="mail") == set()
    answer = await search_env.client.get("/api/v1/search/uploaders")
    assert {item["id"] for item in answer.json()["items"]} == {str(search_env.owner.id), str(colleague.id)}


async def test_nobody_is_discovered_through_the_filter(search_env: SearchFixture) -> None:
    """Documents of others have no uploaders, and an id that cannot be seen finds what an unknown one finds."""
    add(search_env)
    stranger = search_env.seed.person()
    colleague = search_env.seed.person(search_env.owner.organization_id)
    for other in (stranger, colleague):
        search_env.passages_env.add(search_env.seed.knowledge_base(other), other, [Passage("The dog sleeps.")])
    for unseen in (stranger.id, colleague.id, uuid4()):
        assert await found(search_env, uploaded_by=str(unseen)) == set()
    answer = await search_env.client.get("/api/v1/search/uploaders")
    assert [item["id"] for item in answer.json()["items"]] == [str(search_env.owner.id)]


@pytest.mark.parametrize("exact_search_limit", [1, 200_000])
async def test_a_narrow_filter_finds_its_document_behind_many_nearer_ones(
    search_env: SearchFixture, embedder: FakeEmbedder, exact_search_limit: int
) -> None:
    for _ in range(40):
        search_env.document(*[Passage(f"The dog number {number}.", {"dog": 1.0}) for number in range(6)])
    far = search_env.document(Passage("A dog at the sea.", {"dog": 1.0, "sea": 1.0}), created_at=JUNE)
    index = PgvectorSearch(search_env.api.stores.database, exact_search_limit=exact_search_limit)
    searching = SearchService(search_env.api.stores.database, index, {embedder.model: embedder})
    filters = SearchFilters(JUNE, JUNE + timedelta(days=1))

    for mode in SearchMode:
        answer = await searching.search(
            search_env.owner.principal, SearchRequest("dog", mode=mode, limit=1, filters=filters)
        )
        assert [hit.passage.document_id for hit in answer.hits] == [far]


async def test_candidates_of_an_engine_that_knows_no_filters_are_confirmed_with_them(
    search_env: SearchFixture, embedder: FakeEmbedder
) -> None:
    outside = [UUID(add(search_env)) for _ in range(5)]
    inside = UUID(add(search_env, created_at=JUNE))
    index = LyingIndex(search_env.api.stores.database, [proposal(one) for one in [*outside, inside]])
    searching = SearchService(search_env.api.stores.database, index, {embedder.model: embedder})
    request = SearchRequest("dog", mode=SearchMode.VECTOR, filters=SearchFilters(added_before=JUNE + timedelta(days=1)))

    answer = await searching.search(search_env.owner.principal, request)

    assert [hit.passage.document_id for hit in answer.hits] == [inside]


async def test_sorted_by_date_the_newest_relevant_documents_come_first(search_env: SearchFixture) -> None:
    old = add(search_env, created_at=JUNE)
    older = str(search_env.document("A dog, a dog, and a dog.", created_at=JUNE - timedelta(days=1)))
    new = str(search_env.document("Something of a dog.", created_at=JUNE + timedelta(days=1)))
    search_env.document("Of the garden.", created_at=JUNE + timedelta(days=2))

    answer = await search_env.ask("dog", mode="text", sort="date")

    assert [item["document_id"] for item in answer["items"]] == [new, old, older]
    assert answer["items"][1]["created_at"] == "2026-06-15T12:00:00Z"
    assert await search_env.found("dog", mode="text", sort="date", limit=1) == [(new, 0)]
    assert await search_env.status(q="dog", sort="size") == 422
