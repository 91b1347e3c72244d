"""Choose how to find lexical matches, by estimated cost. Pure.

All strategies find the same passages where matches are few; where they are many, each ranks its own selection.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Way(StrEnum):
    FEW = "few"
    """All in scope are looked through."""
    FREQUENT = "frequent"
    """Of each knowledge base, passages are looked through until its share of those that hold everything is found.
    Another way follows where all together gave less than half of what is ranked at most."""
    MANY = "many"
    """The index of the words is asked first. It goes over all organizations: of a word that stands in every third
    passage it lists a third of everything that there is, however small the scope."""


@dataclass(frozen=True)
class Limits:
    small_scope: int = 10_000
    """Passages: so few are looked through, whatever the words."""
    medium_scope: int = 20_000
    """More are never looked through as a whole: the words of all that match are kept for a moment, some 2 kB each."""
    looked_through: int = 24_000
    """At most, where the words are frequent."""
    most_ranked: int = 2_000
    """Text matches that are ranked at all: a word that stands everywhere would cost a quarter of a second otherwise."""


@dataclass(frozen=True)
class Sample:
    strict: float
    """The share of the passages in scope that hold everything that was typed."""
    loose: float
    """The share of those that hold any of the wanted terms."""
    installation: int
    """Passages of everybody, as PostgreSQL remembers them."""


SAMPLED = 256
"""Passages, of every knowledge base in scope as many. In more knowledge bases than these no sample is taken."""
SAFETY = 2
"""A sample may be wrong by so much."""
NEARLY_ALL = 0.6
"""From this share on PostgreSQL does not ask the index."""
LISTING = 0.15
"""What it costs that the index lists a passage, where looking one through (three microseconds) costs 1."""


def ways(chunks: int, sample: Sample, limits: Limits) -> Sequence[Way]:
    """To a scope of so many passages that is not a small one; one after the other until enough was found."""
    costs = {Way.MANY: _cost_of_many(chunks, sample, limits)}
    if chunks <= limits.medium_scope:
        costs[Way.FEW] = chunks
    whole = min(costs, key=lambda way: costs[way])
    frequent = limits.most_ranked / sample.strict if sample.strict else limits.looked_through
    is_frequent = frequent * SAFETY <= limits.looked_through and frequent < costs[whole]
    return [Way.FREQUENT, whole] if is_frequent else [whole]


def _cost_of_many(chunks: int, sample: Sample, limits: Limits) -> float:
    """All that match are listed, and then read until enough are in scope. Where nearly all match, PostgreSQL reads
    from the beginning instead."""
    installation = max(sample.installation, chunks)
    matching = sample.loose * installation
    read = limits.most_ranked * installation / chunks
    if sample.loose > NEARLY_ALL:
        return read / sample.loose
    return LISTING * matching + min(matching, read)
