"""Search over HTTP: what is found, what is refused, and what is never disclosed."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from muniment.errors import Unavailable
from muniment.search.query.lexical.repository import LexicalRanking, LexicalRepository
from muniment.search.query.request import SearchMode, SearchRequest, SearchScope
from muniment.search.query.service import SearchService
from tests.search.conftest import SearchFixture
from tests.search.passages_fixture import MODEL, FakeEmbedder, Passage
from tests.support.log_lines import Lines, capture_logs

DOG = {"dog": 1.0}
SEA = {"sea": 1.0}


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Iterator[Lines]:
    with capture_logs(capsys) as read:
        yield read


async def test_hybrid_finds_by_meaning_and_by_word_and_what_both_find_comes_first(search_env: SearchFixture) -> None:
    both = search_env.document(Passage("The dog sleeps.", DOG))
    meaning = search_env.document(Passage("A hound of the neighbours.", DOG))
    word = search_env.document(Passage("A dog-eared book.", SEA))

    found = await search_env.found("dog")

    assert found[0] == (str(both), 0)
    assert {document for document, _ in found} == {str(both), str(meaning), str(word)}


async def test_each_mode_asks_its_own_half_alone(search_env: SearchFixture, embedder: FakeEmbedder) -> None:
    meaning = search_env.document(Passage("A hound.", DOG))
    word = search_env.document(Passage("The dog.", SEA))

    assert await search_env.found("dog", mode="text") == [(str(word), 0)]
    assert embedder.asked == []
    assert (await search_env.found("dog", mode="vector"))[0] == (str(meaning), 0)


async def test_a_hit_says_where_it_is_and_marks_every_form_of_the_word(search_env: SearchFixture) -> None:
    document_id = search_env.document(
        Passage("x", page=1), Passage("We paid two <b>invoices</b>.", page=7), name="paid.pdf"
    )

    answer = await search_env.ask("invoice", mode="text")

    (item,) = answer["items"]
    snippet = item["snippet"]
    assert snippet == "We paid two <b>invoices</b>."
    assert [snippet[start:end] for start, end in item["highlights"]] == ["invoices"]
    assert (item["document_id"], item["document_name"], item["kb_id"]) == (
        str(document_id),
        "paid.pdf",
        str(search_env.kb_id),
    )
    assert (item["page"], item["chunk_index"], item["document_type"]) == (7, 1, "other")
    assert item["image_url"] == search_env.path(document_id, "pages/7/image")
    assert 0 < item["score"] <= 1
    assert answer["took_ms"] > 0


async def test_kinds_without_pictures_of_pages_have_no_link_to_one(search_env: SearchFixture) -> None:
    search_env.document("An invoice.", media_type="text/plain")
    assert [item["image_url"] for item in (await search_env.ask("invoice"))["items"]] == [None]


async def test_at_most_three_passages_of_one_document_are_shown(search_env: SearchFixture) -> None:
    long = search_env.document(*[Passage(f"The dog number {number}.", DOG) for number in range(8)])
    short = search_env.document(Passage("A dog.", {"dog": 1, "sea": 1}))

    found = await search_env.found("dog")

    assert [document for document, _ in found].count(str(long)) == 3
    assert str(short) in [document for document, _ in found]


async def test_phrases_are_exact_and_excluded_words_exclude_whatever_found_them(search_env: SearchFixture) -> None:
    exact = search_env.document(Passage("The red house by the sea.", SEA))
    other = search_env.document(Passage("The house is red, said the sea.", SEA))
    near = search_env.document(Passage("Waves.", SEA))

    assert await search_env.found('"red house" sea') == [(str(exact), 0)]
    assert {document for document, _ in await search_env.found("sea -red")} == {str(near)}
    assert {document for document, _ in await search_env.found('sea -"red house"')} == {str(other), str(near)}
    assert {document for document, _ in await search_env.found('waves or "red house"', mode="text")} == {
        str(exact),
        str(near),
    }


@pytest.mark.parametrize("q", ["-invoice", "-invoice -dog", '-"an invoice"', "the -invoice", "- ! ? *", '""', "or"])
async def test_a_question_that_only_excludes_matches_nothing(search_env: SearchFixture, q: str) -> None:
    search_env.document("Something about dogs.")
    assert await search_env.found(q, mode="text") == []
    if "the" not in q:
        assert await search_env.found(q) == []


async def test_stop_words_alone_match_no_words(search_env: SearchFixture) -> None:
    search_env.document("The one and the other.")
    assert await search_env.found("the and", mode="text") == []


@pytest.mark.parametrize("q", ["'", "a & b | !c", "x:*", "\\", "<->", "(((", "%", "_", "a\tb\n", "😀", "''' OR 1=1 --"])
async def test_signs_of_other_languages_are_only_text(search_env: SearchFixture, q: str) -> None:
    search_env.document("Nothing of it.")
    assert await search_env.status(q=q) == 200


async def test_each_document_is_asked_in_its_own_language(search_env: SearchFixture) -> None:
    german = search_env.document(Passage("Die Verträge wurden gekündigt.", SEA), language="german")
    english = search_env.document(Passage("All contracts were cancelled.", SEA))
    plain = search_env.document(Passage("Vertrag kontrakt", SEA), language="simple")

    assert {document for document, _ in await search_env.found("Vertrag", mode="text")} == {str(german), str(plain)}
    assert await search_env.found("contract", mode="text") == [(str(english), 0)]


async def test_a_passage_with_all_the_words_comes_before_one_with_some(search_env: SearchFixture) -> None:
    some = search_env.document(Passage("Notice of a meeting, notice of a party.", SEA))
    every = search_env.document(Passage("The period of notice for a flat is long.", SEA))

    found = await search_env.found("notice period flat", mode="text")

    assert [document for document, _ in found] == [str(every), str(some)]


async def test_only_the_named_knowledge_bases_and_types_are_searched(search_env: SearchFixture) -> None:
    other_kb = search_env.seed.knowledge_base(search_env.owner, "Other")
    here = search_env.document("An invoice.", document_type="invoice")
    there = search_env.passages_env.add(other_kb, search_env.owner, [Passage("An invoice.")], document_type="contract")

    async def documents(**parameters: Any) -> set[str]:
        return {document for document, _ in await search_env.found("invoice", **parameters)}

    assert await documents() == {str(here), str(there)}
    assert await documents(kb_id=str(other_kb)) == {str(there)}
    assert await documents(kb_id=[str(other_kb), str(search_env.kb_id)]) == {str(here), str(there)}
    assert await documents(document_type="invoice") == {str(here)}
    assert await documents(document_type=["invoice", "contract"]) == {str(here), str(there)}


async def test_a_rare_type_is_found_behind_many_nearer_ones_of_another(search_env: SearchFixture) -> None:
    for _ in range(3):
        search_env.document(*[Passage("x", DOG) for _ in range(50)])
    rare = search_env.document(Passage("x", {"dog": 1, "sea": 0.5}), document_type="contract")

    assert await search_env.found("dog", mode="vector", document_type="contract") == [(str(rare), 0)]


async def test_the_limit_is_kept(search_env: SearchFixture) -> None:
    for _ in range(12):
        search_env.document("An invoice.")
    assert len(await search_env.found("invoice")) == 10
    assert len(await search_env.found("invoice", limit=2)) == 2


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"q": ""},
        {"q": " \t\n"},
        {"q": "x" * 1001},
        {"q": "x" * 10_000},
        {"q": "a\0b"},
        {"q": "a", "limit": 0},
        {"q": "a", "limit": 51},
        {"q": "a", "mode": "guess"},
        {"q": "a", "document_type": "poem"},
        {"q": "a", "kb_id": "no-uuid"},
    ],
)
async def test_what_cannot_be_asked_is_422(search_env: SearchFixture, parameters: dict[str, Any]) -> None:
    assert await search_env.status(**parameters) == 422


async def test_a_knowledge_base_that_the_caller_may_not_see_is_404(
    search_env: SearchFixture, embedder: FakeEmbedder
) -> None:
    foreign = search_env.seed.knowledge_base(search_env.seed.person())
    for kb_id in (foreign, uuid4()):
        parameters: dict[str, Any] = {"q": "dog", "kb_id": [str(search_env.kb_id), str(kb_id)]}
        answer = await search_env.client.get("/api/v1/search", params=parameters)
        assert (answer.status_code, answer.json()) == (404, {"detail": "Knowledge base not found"})
    assert embedder.asked == []


async def test_before_anything_was_indexed_nothing_is_found(search_env: SearchFixture) -> None:
    search_env.seed.execute("DELETE FROM indexing_variants")
    assert await search_env.found("dog") == []


async def test_only_the_active_variant_answers(search_env: SearchFixture) -> None:
    text_id = search_env.passages_env.text(search_env.owner.organization_id, [Passage("An old invoice.")])
    search_env.seed.document(search_env.kb_id, search_env.owner, artifact_text_id=text_id)
    new = replace(MODEL, model="another model", fingerprint="new variant")
    search_env.passages_env.variant(new, is_active=False)
    search_env.passages_env.index(text_id, search_env.owner.organization_id, [Passage("A new invoice.")], model=new)

    assert [item["snippet"] for item in (await search_env.ask("invoice"))["items"]] == ["An old invoice."]


async def test_while_the_model_does_not_answer_words_still_find(
    search_env: SearchFixture, embedder: FakeEmbedder
) -> None:
    embedder.error = Unavailable()
    document_id = search_env.document(Passage("A dog.", SEA))

    answer = await search_env.ask("dog")

    assert (answer["mode"], [item["document_id"] for item in answer["items"]]) == ("text", [str(document_id)])
    assert await search_env.status(q="dog", mode="vector") == 503


async def test_the_log_has_numbers_and_never_the_question(search_env: SearchFixture, lines: Lines) -> None:
    search_env.document("The secret word is xylophone.")
    lines()
    await search_env.ask("xylophone")

    written = lines()
    (asked,) = [line for line in written if line["event"] == "search.completed"]
    assert (asked["results"], asked["mode"]) == (1, "hybrid")
    assert asked["took_ms"] > 0
    assert "xylophone" not in json.dumps(written)


@pytest.mark.parametrize("audit_queries", [False, True])
async def test_a_question_is_in_the_audit_trail_only_where_that_is_wanted(
    search_env: SearchFixture, embedder: FakeEmbedder, audit_queries: bool
) -> None:
    search_env.document("An invoice.")
    parts = search_env.api.services
    searching = SearchService(
        parts.database, parts.search.index, {embedder.model: embedder}, audit_queries=audit_queries
    )

    await searching.search(search_env.owner.principal, SearchRequest("invoice", [search_env.kb_id]))

    written = [(line["action"], line["actor"], line["payload"]) for line in search_env.seed.audit_lines()]
    said = {"query": "invoice", "mode": "hybrid", "kb_ids": [str(search_env.kb_id)], "results": 1}
    assert written == ([("search_asked", str(search_env.owner.id), said)] if audit_queries else [])


async def test_no_transaction_waits_until_the_question_is_embedded(
    search_env: SearchFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    search_env.document("An invoice.")
    pool = search_env.api.stores.database.app_engine.pool
    matched, match = asyncio.Event(), LexicalRepository.rank

    async def noted(repository: LexicalRepository, scope: SearchScope, *, limit: int) -> LexicalRanking:
        matched.set()
        return await match(repository, scope, limit=limit)

    class Slow(FakeEmbedder):
        async def embed_query(self, text: str) -> list[float]:
            await matched.wait()
            while pool.checkedout():  # type: ignore[attr-defined]  # noqa: ASYNC110  # a pool has no event
                await asyncio.sleep(0)
            return await super().embed_query(text)

    monkeypatch.setattr(LexicalRepository, "rank", noted)
    slow = Slow()
    parts = search_env.api.services
    searching = SearchService(parts.database, parts.search.index, {slow.model: slow})
    assert (await searching.search(search_env.owner.principal, SearchRequest("invoice"))).hits
    assert slow.asked == ["invoice"]


async def test_where_nothing_is_to_be_found_no_model_is_needed(search_env: SearchFixture) -> None:
    parts = search_env.api.services
    searching = SearchService(parts.database, parts.search.index, {})
    for mode in (SearchMode.VECTOR, SearchMode.HYBRID):
        answer = await searching.search(
            search_env.owner.principal, SearchRequest("invoice", [search_env.kb_id], mode=mode)
        )
        assert (answer.hits, answer.mode) == ([], mode)
