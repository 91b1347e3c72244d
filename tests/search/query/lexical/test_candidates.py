"""Choice of the terms whose passages are ranked."""

import pytest

from muniment.search.query.lexical.candidates import CandidateLimits, plan_candidates

LIMITS = CandidateLimits(scanned=5_000, budget=2_000, looked_up=6_000, max_share=0.2)


@pytest.mark.parametrize(
    ("counts", "looked_up"),
    [
        ({"rare": 10, "common": 90_000}, ["rare"]),
        ({"second": 800, "first": 700}, ["first", "second"]),
        ({"beyond the budget": 1_500, "first": 600}, ["first"]),
        ({"more than the budget": 5_000, "next": 5_500}, ["more than the budget"]),
        ({"too many": 6_001}, []),
        ({"in every passage": 100_000}, []),
        ({"in none": 0}, ["in none"]),
        ({}, []),
    ],
)
def test_the_rarest_terms_are_looked_up_until_the_budget_is_full(
    counts: dict[str, float], looked_up: list[str]
) -> None:
    assert plan_candidates(counts, 100_000, LIMITS).units == looked_up


def test_in_a_smaller_scope_a_term_of_a_fifth_of_the_passages_is_frequent() -> None:
    assert plan_candidates({"word": 1_201}, 6_000, LIMITS).units == []
    assert plan_candidates({"word": 1_200}, 6_000, LIMITS).units == ["word"]
