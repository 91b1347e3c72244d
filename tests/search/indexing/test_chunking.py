"""Chunks are split at natural boundaries and never exceed the model's input."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.search.indexing.chunking import (
    HEADING,
    TABLE,
    TEXT,
    Chunk,
    ChunkOptions,
    ParagraphSpan,
    SourcePage,
    make_chunks,
)

OPTIONS = ChunkOptions(target_tokens=20, max_tokens=26, overlap_sentences=2)


def count_words(text: str) -> int:
    return len(text.split())


def a_page(*paragraphs: str | tuple[str, str]) -> SourcePage:
    """Return paragraphs as readers do: spans separated by a blank line."""
    text = ""
    spans: list[ParagraphSpan] = []
    for paragraph in paragraphs:
        content, kind = paragraph if isinstance(paragraph, tuple) else (paragraph, TEXT)
        text += "\n\n" if spans else ""
        spans.append(ParagraphSpan(len(text), len(text) + len(content), kind))
        text += content
    return SourcePage(3, text, spans)


def a_sentence(words: int, name: str = "word") -> str:
    return " ".join([name.capitalize(), *(f"{name}{n}" for n in range(1, words))]) + "."


def chunks_of(*paragraphs: str | tuple[str, str], options: ChunkOptions = OPTIONS) -> list[str]:
    return [chunk.text for chunk in make_chunks(a_page(*paragraphs), count_words, options)]


def test_short_paragraphs_share_a_chunk_that_says_where_it_stands() -> None:
    page = a_page("One short paragraph.", "And another one.")
    assert make_chunks(page, count_words, OPTIONS) == [Chunk(3, 0, len(page.text), page.text)]


def test_a_page_without_paragraphs_is_cut_by_its_sentences() -> None:
    page = SourcePage(1, " \n" + " ".join(a_sentence(9) for _ in range(3)), [])
    assert [count_words(chunk.text) for chunk in make_chunks(page, count_words, OPTIONS)] == [18, 9]


@pytest.mark.parametrize("text", ["", "  \n\n "])
def test_an_empty_page_has_no_chunks(text: str) -> None:
    assert make_chunks(SourcePage(1, text, []), count_words, OPTIONS) == []


def test_the_next_chunk_repeats_whole_sentences_of_the_one_before() -> None:
    a, b, c, d, e, f = (a_sentence(3, name) for name in "abcdef")
    long = a_sentence(10, "long")
    assert chunks_of(f"{long} {a} {b} {c} {d} {e} {f}") == [f"{long} {a} {b} {c}", f"{b} {c} {d} {e} {f}"]


def test_a_sentence_too_long_for_the_room_is_not_repeated() -> None:
    first, second = a_sentence(9, "a"), a_sentence(9, "b")
    assert chunks_of(f"{first} {second} {a_sentence(9, 'c')}") == [f"{first} {second}", a_sentence(9, "c")]


def test_a_paragraph_ends_beyond_the_target_rather_than_leave_a_tail() -> None:
    text = f"{a_sentence(10, 'a')} {a_sentence(9, 'b')} {a_sentence(5, 'c')}"
    assert chunks_of(text) == [text]


def test_a_heading_stays_with_what_follows() -> None:
    before, after = a_sentence(9, "before"), a_sentence(18, "after")
    assert chunks_of(before, ("Terms of payment", HEADING), after) == [before, f"Terms of payment\n\n{after}"]


def test_a_heading_is_not_left_alone_above_a_sentence_that_fills_the_target() -> None:
    sentence = f"{a_sentence(20, 'a')} {a_sentence(20, 'b')}"
    found = chunks_of(("Six words long is this heading", HEADING), sentence)
    assert found[0] == f"Six words long is this heading\n\n{a_sentence(20, 'a')}"


def test_a_new_section_begins_a_new_chunk_when_there_is_enough_before_it() -> None:
    before, after = a_sentence(12, "before"), a_sentence(3, "after")
    assert chunks_of(before, ("Next", HEADING), after) == [before, f"Next\n\n{after}"]


def test_a_list_of_headings_is_cut_like_text() -> None:
    headings = [(f"Heading number {n}", HEADING) for n in range(20)]
    found = chunks_of(*headings)
    assert "\n\n".join(found) == "\n\n".join(text for text, _ in headings)
    assert all(count_words(text) <= OPTIONS.target_tokens for text in found)


def test_a_text_that_only_looks_like_a_heading_is_cut_as_text() -> None:
    found = chunks_of((f"{a_sentence(15, 'a')} {a_sentence(15, 'b')}", HEADING))
    assert found == [a_sentence(15, "a"), a_sentence(15, "b")]


def test_a_table_is_cut_between_rows_and_none_is_repeated() -> None:
    rows = [f"Item{n}\t{n} pieces\tat {n} EUR" for n in range(12)]
    found = chunks_of(("\n".join(rows), TABLE))
    assert len(found) == 4
    assert "\n".join(found).split("\n") == rows


def test_a_sentence_that_is_too_long_is_cut_at_words() -> None:
    sentence = a_sentence(50)
    found = chunks_of(sentence)
    assert [count_words(text) for text in found] == [20, 20, 10]
    assert " ".join(found) == sentence


def test_a_word_that_is_too_long_is_cut_anywhere() -> None:
    word = "x" * 1000  # one token for a model that does not know it
    found = chunks_of(word)
    assert "".join(found) == word
    assert all(len(text) <= 8 * OPTIONS.target_tokens for text in found)


def test_a_sentence_is_weighed_once() -> None:
    asked: Counter[str] = Counter()

    def count(text: str) -> int:
        asked[text] += 1
        return count_words(text)

    make_chunks(a_page(" ".join(a_sentence(5, f"s{n}") for n in range(30))), count, OPTIONS)
    assert set(asked.values()) == {1}
    assert len(asked) == 30


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It is so. Is it? Yes!", 3),
        ("Siehe Art. 5 Abs. 2 und Nr. 7 des Vertrags.", 1),
        ("Signed by J. Smith of Acme Inc. for the buyer.", 1),
        ("He said: „So it is.“ Then he left.", 2),
        ("Das gilt z. B. für Waren.", 1),
        ("契約は有効である。署名の日に発効する。", 2),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, sentences: int) -> None:
    asked: list[str] = []
    make_chunks(a_page(text), lambda piece: asked.append(piece) or count_words(piece), OPTIONS)  # type: ignore[func-returns-value]
    assert len(asked) == sentences


KINDS = st.sampled_from([TEXT, TEXT, HEADING, TABLE, "list_item", "caption"])
CONTENTS = st.text(alphabet="ab Z.!?\t\n9ß。", min_size=1, max_size=300)


@given(st.lists(st.tuples(CONTENTS, KINDS), max_size=12))
def test_no_chunk_is_too_large_and_no_word_is_lost(paragraphs: list[tuple[str, str]]) -> None:
    page = a_page(*paragraphs)
    chunks = make_chunks(page, count_words, OPTIONS)
    assert chunks == make_chunks(page, count_words, OPTIONS)
    assert all(page.text[chunk.start : chunk.end] == chunk.text for chunk in chunks)
    assert all(count_words(chunk.text) <= OPTIONS.max_tokens for chunk in chunks)
    assert all(one.start < other.start and one.end < other.end for one, other in pairwise(chunks))
    covered = {place for chunk in chunks for place in range(chunk.start, chunk.end)}
    assert all(place in covered for place, character in enumerate(page.text) if not character.isspace())
