"""Asking over HTTP: what is found, what is refused, and what is never said."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from muniment.errors import Unavailable
from muniment.search.query.lexical.repository import LexicalRepository
from muniment.search.query.request import PassageKey, SearchMode, SearchRequest, SearchScope
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


async def test_hybrid_finds_by_meaning_and_by_word_and_what_both_find_comes_first(room: SearchFixture) -> None:
    both = room.document(Passage("The dog sleeps.", DOG))
    meaning = room.document(Passage("A hound of the neighbours.", DOG))
    word = room.document(Passage("A dog-eared book.", SEA))

    found = await room.found("dog")

    assert found[0] == (str(both), 0)
    assert {document for document, _ in found} == {str(both), str(meaning), str(word)}


async def test_each_mode_asks_its_own_half_alone(room: SearchFixture, speaker: FakeEmbedder) -> None:
    meaning = room.document(Passage("A hound.", DOG))
    word = room.document(Passage("The dog.", SEA))

    assert await room.found("dog", mode="text") == [(str(word), 0)]
    assert speaker.asked == []
    assert (await room.found("dog", mode="vector"))[0] == (str(meaning), 0)


async def test_a_hit_says_where_it_is_and_marks_every_form_of_the_word(room: SearchFixture) -> None:
    document_id = room.document(Passage("x", page=1), Passage("We paid two <b>invoices</b>.", page=7), name="paid.pdf")

    answer = await room.ask("invoice", mode="text")

    (item,) = answer["items"]
    snippet = item["snippet"]
    assert snippet == "We paid two <b>invoices</b>."
    assert [snippet[start:end] for start, end in item["highlights"]] == ["invoices"]
    assert (item["document_id"], item["document_name"], item["kb_id"]) == (
        str(document_id),
        "paid.pdf",
        str(room.kb_id),
    )
    assert (item["page"], item["chunk_index"], item["document_type"]) == (7, 1, "other")
    assert item["image_url"] == room.path(document_id, "pages/7/image")
    assert 0 < item["score"] <= 1
    assert answer["took_ms"] > 0


async def test_kinds_without_pictures_of_pages_have_no_link_to_one(room: SearchFixture) -> None:
    room.document("An invoice.", media_type="text/plain")
    assert [item["image_url"] for item in (await room.ask("invoice"))["items"]] == [None]


async def test_at_most_three_passages_of_one_document_are_shown(room: SearchFixture) -> None:
    long = room.document(*[Passage(f"The dog number {number}.", DOG) for number in range(8)])
    short = room.document(Passage("A dog.", {"dog": 1, "sea": 1}))

    found = await room.found("dog")

    assert [document for document, _ in found].count(str(long)) == 3
    assert str(short) in [document for document, _ in found]


async def test_phrases_are_exact_and_excluded_words_exclude_whatever_found_them(room: SearchFixture) -> None:
    exact = room.document(Passage("The red house by the sea.", SEA))
    other = room.document(Passage("The house is red, said the sea.", SEA))
    near = room.document(Passage("Waves.", SEA))

    assert await room.found('"red house" sea') == [(str(exact), 0)]
    assert {document for document, _ in await room.found("sea -red")} == {str(near)}
    assert {document for document, _ in await room.found('sea -"red house"')} == {str(other), str(near)}
    assert {document for document, _ in await room.found('waves or "red house"', mode="text")} == {
        str(exact),
        str(near),
    }


@pytest.mark.parametrize("q", ["-invoice", "-invoice -dog", '-"an invoice"', "the -invoice", "- ! ? *", '""', "or"])
async def test_a_question_that_only_excludes_matches_nothing(room: SearchFixture, q: str) -> None:
    room.document("Something about dogs.")
    assert await room.found(q, mode="text") == []
    if "the" not in q:
        assert await room.found(q) == []


async def test_stop_words_alone_match_no_words(room: SearchFixture) -> None:
    room.document("The one and the other.")
    assert await room.found("the and", mode="text") == []


@pytest.mark.parametrize("q", ["'", "a & b | !c", "x:*", "\\", "<->", "(((", "%", "_", "a\tb\n", "😀", "''' OR 1=1 --"])
async def test_signs_of_other_languages_are_only_text(room: SearchFixture, q: str) -> None:
    room.document("Nothing of it.")
    assert await room.status(q=q) == 200


async def test_each_document_is_asked_in_its_own_language(room: SearchFixture) -> None:
    german = room.document(Passage("Die Verträge wurden gekündigt.", SEA), language="german")
    english = room.document(Passage("All contracts were cancelled.", SEA))
    plain = room.document(Passage("Vertrag kontrakt", SEA), language="simple")

    assert {document for document, _ in await room.found("Vertrag", mode="text")} == {str(german), str(plain)}
    assert await room.found("contract", mode="text") == [(str(english), 0)]


async def test_a_passage_with_all_the_words_comes_before_one_with_some(room: SearchFixture) -> None:
    some = room.document(Passage("Notice of a meeting, notice of a party.", SEA))
    every = room.document(Passage("The period of notice for a flat is long.", SEA))

    found = await room.found("notice period flat", mode="text")

    assert [document for document, _ in found] == [str(every), str(some)]


async def test_only_the_named_knowledge_bases_and_types_are_searched(room: SearchFixture) -> None:
    other_kb = room.seed.knowledge_base(room.owner, "Other")
    here = room.document("An invoice.", document_type="invoice")
    there = room.library.add(other_kb, room.owner, [Passage("An invoice.")], document_type="contract")

    async def documents(**parameters: Any) -> set[str]:
        return {document for document, _ in await room.found("invoice", **parameters)}

    assert await documents() == {str(here), str(there)}
    assert await documents(kb_id=str(other_kb)) == {str(there)}
    assert await documents(kb_id=[str(other_kb), str(room.kb_id)]) == {str(here), str(there)}
    assert await documents(document_type="invoice") == {str(here)}
    assert await documents(document_type=["invoice", "contract"]) == {str(here), str(there)}


async def test_a_rare_type_is_found_behind_many_nearer_ones_of_another(room: SearchFixture) -> None:
    for _ in range(3):
        room.document(*[Passage("x", DOG) for _ in range(50)])
    rare = room.document(Passage("x", {"dog": 1, "sea": 0.5}), document_type="contract")

    assert await room.found("dog", mode="vector", document_type="contract") == [(str(rare), 0)]


async def test_the_limit_is_kept(room: SearchFixture) -> None:
    for _ in range(12):
        room.document("An invoice.")
    assert len(await room.found("invoice")) == 10
    assert len(await room.found("invoice", limit=2)) == 2


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
async def test_what_cannot_be_asked_is_422(room: SearchFixture, parameters: dict[str, Any]) -> None:
    assert await room.status(**parameters) == 422


async def test_a_knowledge_base_that_the_caller_may_not_see_is_404(room: SearchFixture, speaker: FakeEmbedder) -> None:
    foreign = room.seed.knowledge_base(room.seed.person())
    for kb_id in (foreign, uuid4()):
        parameters: dict[str, Any] = {"q": "dog", "kb_id": [str(room.kb_id), str(kb_id)]}
        answer = await room.client.get("/api/v1/search", params=parameters)
        assert (answer.status_code, answer.json()) == (404, {"detail": "Knowledge base not found"})
    assert speaker.asked == []


async def test_before_anything_was_indexed_nothing_is_found(room: SearchFixture) -> None:
    room.seed.execute("DELETE FROM indexing_variants")
    assert await room.found("dog") == []


async def test_only_the_active_variant_answers(room: SearchFixture) -> None:
    text_id = room.library.text(room.owner.organization_id, [Passage("An old invoice.")])
    room.seed.document(room.kb_id, room.owner, artifact_text_id=text_id)
    new = replace(MODEL, model="another model", fingerprint="new variant")
    room.library.variant(new, is_active=False)
    room.library.index(text_id, room.owner.organization_id, [Passage("A new invoice.")], model=new)

    assert [item["snippet"] for item in (await room.ask("invoice"))["items"]] == ["An old invoice."]


async def test_while_the_model_does_not_answer_words_still_find(room: SearchFixture, speaker: FakeEmbedder) -> None:
    speaker.error = Unavailable()
    document_id = room.document(Passage("A dog.", SEA))

    answer = await room.ask("dog")

    assert (answer["mode"], [item["document_id"] for item in answer["items"]]) == ("text", [str(document_id)])
    assert await room.status(q="dog", mode="vector") == 503


async def test_the_log_has_numbers_and_never_the_question(room: SearchFixture, lines: Lines) -> None:
    room.document("The secret word is xylophone.")
    lines()
    await room.ask("xylophone")

    written = lines()
    (asked,) = [line for line in written if line["event"] == "search.completed"]
    assert (asked["results"], asked["mode"]) == (1, "hybrid")
    assert asked["took_ms"] > 0
    assert "xylophone" not in json.dumps(written)


@pytest.mark.parametrize("audit_queries", [False, True])
async def test_a_question_is_in_the_audit_trail_only_where_that_is_wanted(
    room: SearchFixture, speaker: FakeEmbedder, audit_queries: bool
) -> None:
    room.document("An invoice.")
    parts = room.api.services
    searching = SearchService(parts.database, parts.search.index, {speaker.model: speaker}, audit_queries=audit_queries)

    await searching.search(room.owner.principal, SearchRequest("invoice", [room.kb_id]))

    written = [(line["action"], line["actor"], line["payload"]) for line in room.seed.audit_lines()]
    said = {"query": "invoice", "mode": "hybrid", "kb_ids": [str(room.kb_id)], "results": 1}
    assert written == ([("search_asked", str(room.owner.id), said)] if audit_queries else [])


async def test_no_transaction_waits_until_the_question_is_embedded(
    room: SearchFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    room.document("An invoice.")
    pool = room.api.stores.database.app_engine.pool
    matched, match = asyncio.Event(), LexicalRepository.match

    async def noted(repository: LexicalRepository, scope: SearchScope, *, limit: int) -> Sequence[PassageKey]:
        matched.set()
        return await match(repository, scope, limit=limit)

    class Slow(FakeEmbedder):
        async def embed_query(self, text: str) -> list[float]:
            await matched.wait()
            while pool.checkedout():  # type: ignore[attr-defined]  # noqa: ASYNC110  # a pool has no event
                await asyncio.sleep(0)
            return await super().embed_query(text)

    monkeypatch.setattr(LexicalRepository, "match", noted)
    slow = Slow()
    parts = room.api.services
    searching = SearchService(parts.database, parts.search.index, {slow.model: slow})
    assert (await searching.search(room.owner.principal, SearchRequest("invoice"))).hits
    assert slow.asked == ["invoice"]


async def test_where_nothing_is_to_be_found_no_model_is_needed(room: SearchFixture) -> None:
    parts = room.api.services
    searching = SearchService(parts.database, parts.search.index, {})
    for mode in (SearchMode.VECTOR, SearchMode.HYBRID):
        answer = await searching.search(room.owner.principal, SearchRequest("invoice", [room.kb_id], mode=mode))
        assert (answer.hits, answer.mode) == ([], mode)
