"""Combine rankings by reciprocal rank fusion, and limit the hits per document."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from muniment.search.query.request import PassageKey

RRF_K = 3
"""Constant of reciprocal rank fusion, chosen by measurement (benchmarks/retrieval/quality.py). With the usual 60, meant
for many rankings of equal quality, a low rank in both halves beats the first rank in the better one."""


MAX_KEYWORDS = 3


LEXICAL_WEIGHT_OF_SENTENCES = 0.3
"""Weight of the lexical ranking for sentences, relative to the semantic one; chosen by measurement too."""


KeyT = TypeVar("KeyT", bound=Hashable)


@dataclass(frozen=True)
class Ranking(Generic[KeyT]):
    """Ranked keys, best first, and the weight of this ranking in the fusion."""

    keys: Sequence[KeyT]
    weight: float = 1.0


def fuse(rankings: Sequence[Ranking[KeyT]], rank_constant: int = RRF_K) -> list[tuple[KeyT, float]]:
    """Return keys and scores, best first; 1 means first in every ranking. Ties keep the order of the rankings."""
    best = sum(ranking.weight for ranking in rankings) / (rank_constant + 1)
    scores: dict[KeyT, float] = {}
    for ranking in rankings:
        # Duplicate keys count once, at their best rank.
        for rank, key in enumerate(dict.fromkeys(ranking.keys), start=1):
            scores[key] = scores.get(key, 0.0) + ranking.weight / (rank_constant + rank)
    return sorted(((key, score / best) for key, score in scores.items()), key=lambda item: -item[1])


def lexical_weight(word_count: int) -> float:
    """Return the weight of the lexical ranking, relative to the semantic one: higher for names and numbers."""
    return 1.0 if word_count <= MAX_KEYWORDS else LEXICAL_WEIGHT_OF_SENTENCES


def limit_per_document(keys: Iterable[PassageKey], limit: int) -> list[PassageKey]:
    """Keep the order, but drop keys beyond `limit` per document."""
    counts: Counter[object] = Counter()
    kept = []
    for key in keys:
        counts[key[0]] += 1
        if counts[key[0]] <= limit:
            kept.append(key)
    return kept
