"""Choose the passages that are ranked, by how many passages of the scope have each term. Pure.

A small scope is ranked completely. In a large one the terms are counted in a sample, and the passages with the rarest
terms are looked up in the index. Where even the rarest term is frequent, the sample itself is ranked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

UnitT = TypeVar("UnitT")


@dataclass(frozen=True)
class CandidateLimits:
    scanned: int = 5_000
    """Passages of the scope that are scanned at most; a larger scope is sampled."""
    budget: int = 2_000
    """Further terms are looked up until so many passages have one of them."""
    looked_up: int = 6_000
    """Passages looked up at most. A term that more passages have is not looked up alone."""
    max_share: float = 0.2
    """Share of the passages above which a term is not looked up: it tells too little."""


@dataclass(frozen=True)
class CandidatePlan(Generic[UnitT]):
    """What is looked up besides the passages with all terms. Nothing: the sample is ranked."""

    units: Sequence[UnitT]


def plan_candidates(counts: Mapping[UnitT, float], passages: int, limits: CandidateLimits) -> CandidatePlan[UnitT]:
    """Return the units that generate candidates, rarest first, for their estimated numbers of passages."""
    most = min(passages * limits.max_share, limits.looked_up)
    units: list[UnitT] = []
    total = 0.0
    for unit, count in sorted(counts.items(), key=lambda item: item[1]):
        if count > most or (units and total + count > limits.budget):
            break
        units.append(unit)
        total += count
    return CandidatePlan(units)
