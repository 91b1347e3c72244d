"""Which way leads to the passages that hold the words soonest. All of them find the same."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Way(StrEnum):
    FEW = "few"
    """All in scope are looked through."""
    FREQUENT = "frequent"
    """They are looked through until enough hold everything that was typed; another way follows when they do not."""
    MANY = "many"
    """The index of the words is asked first. It goes over all organizations: of a word that stands in every third
    passage it lists a third of everything that there is, however small the scope."""


@dataclass(frozen=True)
class Limits:
    """Measured in a million passages; looking one through takes three microseconds."""

    small_scope: int = 10_000
    """Passages: so few are looked through, whatever the words."""
    medium_scope: int = 30_000
    """So many too, unless the words are rare."""
    looked_through: int = 16_000
    """At most, where the words are frequent."""
    most_ranked: int = 2_000
    """Text matches that are ranked at all: a word that stands everywhere would cost a quarter of a second otherwise."""


@dataclass(frozen=True)
class Shares:
    """Of a sample of the passages in scope."""

    strict: float
    """Hold everything that was typed."""
    loose: float
    """Hold any of the wanted terms."""


SAMPLE = 256
"""Passages, of every knowledge base in scope as many."""
FREQUENT_FROM = 0.25
RARE_BELOW = 0.02


def ways(chunks: int, shares: Shares, limits: Limits) -> Sequence[Way]:
    """To a scope of so many passages that is not a small one; one after the other until enough was found."""
    is_medium = chunks <= limits.medium_scope and shares.loose >= RARE_BELOW
    whole = Way.FEW if is_medium else Way.MANY
    return [Way.FREQUENT, whole] if shares.strict >= FREQUENT_FROM else [whole]
