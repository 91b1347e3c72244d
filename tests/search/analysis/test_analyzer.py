"""What holds for the terms of every text, hostile ones included."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muniment.search.analysis.analyzer import MAX_POSITION, Token, analyze, analyze_query, count_positions
from muniment.search.analysis.words import MAX_TERM_CHARACTERS

LANGUAGES = ["english", "german", "norwegian", "serbian", "french", "hindi", "simple"]
PIECES = [
    "DE89 3704",
    "2026-03-05",
    "1.234,56",
    "+49 170",
    "a@b.de",
    "https://",
    "www.",
    "-\n",
    "5 March 2026",
    "l'eau",
]
hostile_texts = st.lists(st.one_of(st.text(), st.sampled_from(PIECES))).map("".join)


def positions_of(tokens: list[Token], term: str) -> list[int]:
    return [token.position for token in tokens if token.term == term]


@settings(max_examples=150, deadline=None)
@given(text=hostile_texts, language=st.sampled_from(LANGUAGES))
def test_any_text_gives_terms_that_a_tsvector_holds_and_spans_within_the_text(text: str, language: str) -> None:
    for token in analyze(text, language):
        assert token.term
        assert "\0" not in token.term
        assert len(token.term.encode()) <= 2046
        assert 1 <= token.position <= MAX_POSITION
        assert 0 <= token.start < token.end <= len(text)
    for term in analyze_query(text, language):
        assert term.alternatives
        assert all(term.alternatives)
        assert 0 < term.weight <= 1


@settings(max_examples=150, deadline=None)
@given(text=hostile_texts, language=st.sampled_from(LANGUAGES))
def test_a_text_finds_itself(text: str, language: str) -> None:
    indexed = {token.term for token in analyze(text, language)}
    assert all(indexed.intersection(term.alternatives) for term in analyze_query(text, language))


@pytest.mark.parametrize(
    "text",
    ["a" * 100_000, "a-" * 50_000, "1 " * 50_000, "1.234 " * 20_000, "@." * 50_000, "é\u0301" * 50_000, "ß" * 9_999],
)
def test_endless_repetition_is_analyzed_as_fast_as_text(text: str) -> None:
    tokens = analyze(text, "german")  # quadratic time would exceed the test's time limit
    assert all(len(token.term) <= MAX_TERM_CHARACTERS for token in tokens)
    assert all(token.position <= MAX_POSITION for token in tokens)


def test_stop_words_take_a_position_but_give_no_term() -> None:
    assert [(token.term, token.position) for token in analyze("The theory of the plate", "english")] == [
        ("theori", 2),
        ("plate", 5),
    ]
    assert analyze_query("what is the", "english") == []


def test_the_length_counts_positions_and_not_terms() -> None:
    assert count_positions(analyze("Kündigungsfrist", "german")) == 1
    assert count_positions(analyze("AX-4711-B", "english")) == 1
    assert count_positions(analyze("boundary-layer theory of the plate", "english")) == 4


def test_english_words_have_one_term_each_as_with_a_plain_stemmer() -> None:
    text = "Experimental investigation of the aerodynamics of a wing in a slipstream"
    assert [token.term for token in analyze(text, "english")] == [
        "experiment",
        "investig",
        "aerodynam",
        "wing",
        "slipstream",
    ]


def test_spans_are_those_of_the_words_in_the_text() -> None:
    text = "»Kündigungs­frist« – boundary-layer, a.berg@nord.de"
    spans = {token.term: text[token.start : token.end] for token in analyze(text, "english")}
    assert spans["layer"] == "layer"
    assert spans["nord"] == "nord"
    assert spans["a.berg@nord.de"] == "a.berg@nord.de"
    assert "Kündigungs­frist" in spans.values()


def test_a_word_and_its_parts_share_their_position() -> None:
    tokens = analyze("Die Kündigungsfrist endet", "german")
    assert positions_of(tokens, "kundigungsfrist") == positions_of(tokens, "frist") == positions_of(tokens, "kundig")


def test_a_compound_in_a_query_asks_for_the_compound_only() -> None:
    assert [term.alternatives for term in analyze_query("Kündigungsfrist", "german")] == [("kundigungsfrist",)]


def test_the_parts_of_a_code_weigh_less_than_the_whole() -> None:
    whole, *parts = analyze_query("AX-4711-B", "english")
    assert (whole.alternatives, whole.weight) == (("ax4711b",), 1.0)
    assert sum(part.weight for part in parts) == pytest.approx(0.5)


def test_numbers_in_a_row_may_be_one_number_but_need_not() -> None:
    assert [term.weight for term in analyze_query("budget 2024 2025", "english")] == [1.0, 1.0, 1.0]


def test_words_that_only_look_like_compounds_stay_whole() -> None:
    for word in ("Artikel", "Personal", "Angebot", "Verwandtschaft", "Christ", "gesamt", "Bestand"):
        assert len(analyze(word, "german")) == 1, word


def test_chinese_is_found_by_pairs_of_signs() -> None:
    indexed = {token.term for token in analyze("合同自签署之日起生效", "simple")}
    assert {term.alternatives[0] for term in analyze_query("签署之日", "simple")} <= indexed


@pytest.mark.parametrize("language", ["english", "german", "norwegian", "serbian", "dutch", "swedish", "danish"])
def test_languages_have_stop_words(language: str) -> None:
    frequent = {"english": "and", "german": "und", "dutch": "en", "swedish": "och", "danish": "og", "norwegian": "og"}
    assert analyze(frequent.get(language, "и"), language) == []


@pytest.mark.parametrize(
    ("language", "compound", "parts"),
    [
        ("german", "Stromrechnungen", ["Rechnung", "Strom"]),
        ("german", "Arbeitsverträge", ["Vertrag", "Arbeit"]),
        ("german", "Nebenkostenabrechnung", ["Abrechnung", "Kosten", "Nebenkosten"]),
        ("german", "Sozialversicherungsnummer", ["Nummer", "Versicherung", "Sozialversicherung"]),
        ("german", "Heiratsurkunde", ["Urkunde"]),
        ("german", "Vertraulichkeitsklauseln", ["Klausel", "Vertraulichkeit"]),
        ("norwegian", "personvernerklæringen", ["erklæring", "personvern"]),
        ("norwegian", "fakturanummeret", ["nummer", "faktura"]),
        ("danish", "lejekontrakten", ["kontrakt", "leje"]),
        ("swedish", "uppsägningstiden", ["tid", "uppsägning"]),
        ("dutch", "huurovereenkomst", ["overeenkomst", "huur"]),
    ],
)
def test_a_compound_is_found_by_its_parts(language: str, compound: str, parts: list[str]) -> None:
    indexed = {token.term for token in analyze(compound, language)}
    for part in parts:
        assert [term for term in analyze_query(part, language) if indexed.isdisjoint(term.alternatives)] == [], part
