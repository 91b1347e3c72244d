import pytest

from muniment.search.query.ranking import RRF_K, Ranking, fuse


def test_what_two_rankings_agree_upon_comes_before_what_one_of_them_puts_first() -> None:
    order = [key for key, _ in fuse([Ranking(["only here", "both"]), Ranking(["only there", "both"])])]
    assert order == ["both", "only here", "only there"]


def test_the_first_of_every_ranking_scores_one_and_the_rest_less() -> None:
    scores = dict(fuse([Ranking(["a", "b"]), Ranking(["a"])]))
    assert scores["a"] == pytest.approx(1)
    assert scores["b"] == pytest.approx((RRF_K + 1) / (RRF_K + 2) / 2)


def test_a_weight_lets_one_ranking_decide() -> None:
    order = [key for key, _ in fuse([Ranking(["a", "b"]), Ranking(["b", "a"], weight=1.5)])]
    assert order == ["b", "a"]


def test_a_key_that_comes_twice_counts_once() -> None:
    assert fuse([Ranking(["a", "b", "a"])]) == fuse([Ranking(["a", "b"])])


def test_nothing_fused_is_nothing() -> None:
    assert fuse([Ranking[str]([]), Ranking[str]([])]) == []
    assert fuse([]) == []
