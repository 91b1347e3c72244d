"""Choose how to find lexical matches, by estimated cost. Pure.

All strategies find the same passages where matches are few; where they are many, each ranks its own selection.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class MatchStrategy(StrEnum):
    SCAN_SCOPE = "few"
    """All in scope are looked through."""
    SCAN_UNTIL_ENOUGH = "frequent"
    """Of each knowledge base, passages are looked through until its share of those that hold everything is found.
    Another way follows where all together gave less than half of what is ranked at most."""
    USE_INDEX = "many"
    """The index of the words is asked first. It goes over all organizations: of a word that stands in every third
    passage it lists a third of everything that there is, however small the scope."""


@dataclass(frozen=True)
class ScanLimits:
    small_scope: int = 10_000
    """Passages: so few are looked through, whatever the words."""
    medium_scope: int = 20_000
    """More are never looked through as a whole: the words of all that match are kept for a moment, some 2 kB each."""
    max_scanned: int = 24_000
    """At most, where the words are frequent."""
    max_ranked: int = 2_000
    """Text matches that are ranked at all: a word that stands everywhere would cost a quarter of a second otherwise."""


@dataclass(frozen=True)
class SelectivitySample:
    all_terms_share: float
    """The share of the passages in scope that hold everything that was typed."""
    any_term_share: float
    """The share of those that hold any of the wanted terms."""
    total_chunks: int
    """Passages of everybody, as PostgreSQL remembers them."""


SAMPLE_SIZE = 256
"""Passages, of every knowledge base in scope as many. In more knowledge bases than these no sample is taken."""
SAFETY_FACTOR = 2
"""A sample may be wrong by so much."""
SEQUENTIAL_SCAN_SHARE = 0.6
"""From this share on PostgreSQL does not ask the index."""
INDEX_LISTING_COST = 0.15
"""What it costs that the index lists a passage, where looking one through (three microseconds) costs 1."""


def choose_strategies(chunk_count: int, sample: SelectivitySample, limits: ScanLimits) -> Sequence[MatchStrategy]:
    """To a scope of so many passages that is not a small one; one after the other until enough was found."""
    costs = {MatchStrategy.USE_INDEX: _index_cost(chunk_count, sample, limits)}
    if chunk_count <= limits.medium_scope:
        costs[MatchStrategy.SCAN_SCOPE] = chunk_count
    whole = min(costs, key=lambda way: costs[way])
    frequent = limits.max_ranked / sample.all_terms_share if sample.all_terms_share else limits.max_scanned
    is_frequent = frequent * SAFETY_FACTOR <= limits.max_scanned and frequent < costs[whole]
    return [MatchStrategy.SCAN_UNTIL_ENOUGH, whole] if is_frequent else [whole]


def _index_cost(chunk_count: int, sample: SelectivitySample, limits: ScanLimits) -> float:
    """All that match are listed, and then read until enough are in scope. Where nearly all match, PostgreSQL reads
    from the beginning instead."""
    installation = max(sample.total_chunks, chunk_count)
    matching = sample.any_term_share * installation
    read = limits.max_ranked * installation / chunk_count
    if sample.any_term_share > SEQUENTIAL_SCAN_SHARE:
        return read / sample.any_term_share
    return INDEX_LISTING_COST * matching + min(matching, read)
