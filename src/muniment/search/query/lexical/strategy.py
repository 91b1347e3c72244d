"""Choose how to find lexical matches, by estimated cost. Pure.

All strategies find the same passages where matches are few; where they are many, each ranks its own selection.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class MatchStrategy(StrEnum):
    SCAN_SCOPE = "few"
    """Scan all passages in scope."""
    SCAN_UNTIL_ENOUGH = "frequent"
    """Scan each knowledge base until its share of matches is found. Another strategy follows if all knowledge bases
    together gave less than half of the matches that are ranked at most."""
    USE_INDEX = "many"
    """Use the full-text index. It covers all organizations: for a word in every third passage it lists a third of all
    passages, however small the scope."""


@dataclass(frozen=True)
class ScanLimits:
    small_scope: int = 10_000
    """Number of passages up to which a scope is always scanned."""
    medium_scope: int = 20_000
    """Larger scopes are never scanned completely: all matches are held in memory, some 2 kB each."""
    max_scanned: int = 24_000
    """Passages scanned at most when the words are frequent."""
    max_ranked: int = 2_000
    """Matches that are ranked at most; ranking all matches of a very frequent word takes a quarter of a second."""


@dataclass(frozen=True)
class SelectivitySample:
    all_terms_share: float
    """Share of the passages in scope that match the whole query."""
    any_term_share: float
    """Share of the passages in scope that contain any of the terms."""
    total_chunks: int
    """Number of passages of all organizations, as PostgreSQL estimates it."""


SAMPLE_SIZE = 256
"""Sampled passages, divided equally among knowledge bases. With more knowledge bases than this none is taken."""
SAFETY_FACTOR = 2
"""Factor by which a sample may be wrong."""
SEQUENTIAL_SCAN_SHARE = 0.6
"""Share of matches from which PostgreSQL no longer uses the index."""
INDEX_LISTING_COST = 0.15
"""Cost of listing a passage from the index, relative to scanning one, which takes three microseconds."""


def choose_strategies(chunk_count: int, sample: SelectivitySample, limits: ScanLimits) -> Sequence[MatchStrategy]:
    """Choose match strategies for a large scope, cheapest first; the next is tried when one finds too few."""
    costs = {MatchStrategy.USE_INDEX: _index_cost(chunk_count, sample, limits)}
    if chunk_count <= limits.medium_scope:
        costs[MatchStrategy.SCAN_SCOPE] = chunk_count
    cheapest = min(costs, key=lambda strategy: costs[strategy])
    frequent = limits.max_ranked / sample.all_terms_share if sample.all_terms_share else limits.max_scanned
    is_frequent = frequent * SAFETY_FACTOR <= limits.max_scanned and frequent < costs[cheapest]
    return [MatchStrategy.SCAN_UNTIL_ENOUGH, cheapest] if is_frequent else [cheapest]


def _index_cost(chunk_count: int, sample: SelectivitySample, limits: ScanLimits) -> float:
    """Estimate the cost of the index: all matches are listed, then read until enough are in scope. If nearly all
    passages match, PostgreSQL scans the table instead."""
    installation = max(sample.total_chunks, chunk_count)
    matching = sample.any_term_share * installation
    read = limits.max_ranked * installation / chunk_count
    if sample.any_term_share > SEQUENTIAL_SCAN_SHARE:
        return read / sample.any_term_share
    return INDEX_LISTING_COST * matching + min(matching, read)
