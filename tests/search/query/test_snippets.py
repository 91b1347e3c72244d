import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.search.query.lexical.terms import make_language_query
from muniment.search.query.parser import parse_query
from muniment.search.query.snippets import (
    ELLIPSIS,
    MAX_SNIPPET_CHARACTERS,
    make_snippet,
    merge_spans,
    rarity_weights,
    substring_spans,
    term_spans,
)

LONG = "start " + "filler " * 100 + "the needle and another needle " + "filler " * 100 + "lone needle"


def spans_of(text: str, words: str) -> list[tuple[int, int]]:
    return term_spans(text, "english", make_language_query(parse_query(words), "english").terms)


def spans(text: str, word: str) -> list[tuple[int, int]]:
    return spans_of(text, word)


def test_a_short_text_is_shown_whole() -> None:
    snippet = make_snippet("A needle.", spans("A needle.", "needle"))
    assert (snippet.text, snippet.highlights) == ("A needle.", [(2, 8)])


def test_a_long_text_is_cut_at_spaces_where_most_matches_stand() -> None:
    snippet = make_snippet(LONG, spans(LONG, "needle"))
    assert "the needle and another needle" in snippet.text
    assert [snippet.text[start:end] for start, end in snippet.highlights] == ["needle", "needle"]
    assert snippet.text.startswith(f"{ELLIPSIS}filler ")
    assert snippet.text.endswith(f" filler{ELLIPSIS}")
    assert MAX_SNIPPET_CHARACTERS - 60 <= len(snippet.text) <= MAX_SNIPPET_CHARACTERS + 2


def test_without_a_match_the_beginning_is_shown() -> None:
    snippet = make_snippet(LONG, [])
    assert snippet.text.startswith("start filler")
    assert snippet.highlights == []


def test_line_ends_become_spaces_and_the_spans_stay_true() -> None:
    text = "one\n \ttwo\tneedle"
    snippet = make_snippet(text, spans(text, "needle"))
    assert snippet.text == "one   two needle"
    assert [snippet.text[start:end] for start, end in snippet.highlights] == ["needle"]


FILLER = "Nothing of interest is said here, and it goes on for a while. " * 4


@pytest.mark.parametrize(
    "before", ["A first sentence. ", FILLER, "A heading\n\n", "Art. 3 of the law (cf. no. 7) applies. "]
)
def test_a_snippet_begins_with_the_sentence_of_the_match(before: str) -> None:
    text = f"{before}The needle is here. {FILLER}"
    snippet = make_snippet(text, spans(text, "needle"))
    assert snippet.text.startswith("The needle is here. Nothing")
    assert [snippet.text[start:end] for start, end in snippet.highlights] == ["needle"]
    assert snippet.text.endswith(ELLIPSIS)


def test_the_best_sentence_has_the_most_distinct_words_and_the_first_of_equals_wins() -> None:
    text = "A needle, a needle, a needle. Thread and needle. Needle and thread."
    both = spans_of(text, "needle thread")
    assert make_snippet(text, both).text == "Thread and needle. Needle and thread."


def test_a_rare_word_counts_more_than_a_frequent_one() -> None:
    text = "The invoice of the company. The invoice arrived. The deposit arrived."
    found = spans_of(text, "invoice deposit")
    weights = rarity_weights([(text, found)])
    assert weights["deposit"] > weights["invoice"]
    assert make_snippet(text, found).text.startswith("The invoice of")
    assert make_snippet(text, found, weights).text == "The deposit arrived."


def test_overlapping_spans_are_one() -> None:
    assert merge_spans([(5, 8), (0, 3), (7, 9), (2, 4)]) == [(0, 4), (5, 9)]


def test_substrings_are_found_whatever_their_case() -> None:
    assert substring_spans("Straße STRASSE straße", ["straße"]) == [(0, 6), (15, 21)]
    assert substring_spans("a.b axb", ["a.b", ""]) == [(0, 3)]


@given(st.text(max_size=700), st.lists(st.tuples(st.integers(0, 700), st.integers(1, 300)), max_size=8))
def test_whatever_the_text_every_span_marks_what_it_marked_before(text: str, pieces: list[tuple[int, int]]) -> None:
    found = [(start, min(start + length, len(text))) for start, length in pieces if start < len(text)]
    snippet = make_snippet(text, found)
    assert len(snippet.text) <= MAX_SNIPPET_CHARACTERS + 2
    marked = {character for start, end in found for character in text[start:end]}
    for start, end in snippet.highlights:
        assert 0 <= start <= end <= len(snippet.text)
        shown = snippet.text[start:end]
        assert all(character == " " or character in marked for character in shown)
