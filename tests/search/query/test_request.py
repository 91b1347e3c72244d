import pytest

from muniment.search.query.parser import parse_query


@pytest.mark.parametrize(
    ("typed", "words", "phrases", "excluded"),
    [
        ("notice period", ("notice", "period"), (), ()),
        ('the "red  house" -blue', ("the",), ("red house",), ("blue",)),
        ('-"red house" sea', ("sea",), (), ("red house",)),
        ('cat or "red house"', ("cat", "red house"), (), ()),
        ('"never closed', (), ("never closed",), ()),
        ('- -- "" "  " !?', (), (), ()),
        ("e-mail well-known", ("e-mail", "well-known"), (), ()),
        ("Größe 3.14", ("Größe", "3.14"), (), ()),
    ],
)
def test_words_phrases_and_excluded_ones_are_told_apart(
    typed: str, words: tuple[str, ...], phrases: tuple[str, ...], excluded: tuple[str, ...]
) -> None:
    query = parse_query(typed)
    assert (query.words, query.phrases, query.excluded) == (words, phrases, excluded)


def test_a_model_is_asked_for_what_is_wanted_alone() -> None:
    assert parse_query('the "red house" -blue').plain_text == "the red house"
    assert parse_query("-blue").plain_text == ""
