import pytest

from muniment.search.query.ranking import Ranking, fuse


def ordered(*rankings: Ranking[str]) -> list[str]:
    return [key for key, _ in fuse(rankings)]


def test_both_halves_count_equally() -> None:
    lexical, semantic = Ranking({"words": 0.9, "both": 0.5}), Ranking({"meaning": 0.8, "both": 0.5})
    assert ordered(semantic, lexical) == ["both", "words", "meaning"]


def test_a_passage_that_is_best_in_both_halves_scores_one_and_in_one_of_them_half() -> None:
    scores = dict(fuse([Ranking({"a": 1.0, "b": 1.0}), Ranking({"a": 1.0})]))
    assert scores == {"a": 1.0, "b": 0.5}


def test_a_similarity_counts_by_how_far_it_lies_between_the_lower_limit_and_the_best() -> None:
    ranking = Ranking.by_similarity({"best": 0.7, "middle": 0.5, "limit": 0.3}, 0.3)
    assert ranking.scores == pytest.approx({"best": 1.0, "middle": 0.5, "limit": 0.0})


def test_without_a_lower_limit_the_least_similar_passage_found_takes_its_place() -> None:
    assert Ranking.by_similarity({"best": 0.7, "least": 0.5}, None).scores == {"best": 1.0, "least": 0.0}
    assert Ranking.by_similarity({"only": 0.7}, None).scores == {"only": 1.0}


def test_nothing_fused_is_nothing() -> None:
    assert fuse([Ranking[str]({}), Ranking[str]({})]) == []
    assert fuse([]) == []
    assert Ranking[str].by_similarity({}, 0.3).scores == {}
