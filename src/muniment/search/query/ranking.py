"""Combine rankings by reciprocal rank fusion, and limit the hits per document."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from muniment.search.query.request import PassageKey

RRF_K = 3
"""How much being first is worth over being tenth. Measured (benchmarks/retrieval/quality.py): with the usual 60, made for many
rankings of the same quality, a place far down in both halves outdoes the first place of the better one."""


MAX_KEYWORDS = 3


LEXICAL_WEIGHT_OF_SENTENCES = 0.3
"""Of the words of a question beside its meaning: measured as well."""


KeyT = TypeVar("KeyT", bound=Hashable)


@dataclass(frozen=True)
class Ranking(Generic[KeyT]):
    """Best first."""

    keys: Sequence[KeyT]
    weight: float = 1.0


def fuse(rankings: Sequence[Ranking[KeyT]], rank_constant: int = RRF_K) -> list[tuple[KeyT, float]]:
    """Best first, each with its score: 1 for what is first everywhere. Equals stay in the order of the rankings."""
    best = sum(ranking.weight for ranking in rankings) / (rank_constant + 1)
    scores: dict[KeyT, float] = {}
    for ranking in rankings:
        # A key that comes twice in one ranking counts once, at its better place.
        for place, key in enumerate(dict.fromkeys(ranking.keys), start=1):
            scores[key] = scores.get(key, 0.0) + ranking.weight / (rank_constant + place)
    return sorted(((key, score / best) for key, score in scores.items()), key=lambda item: -item[1])


def lexical_weight(word_count: int) -> float:
    """Beside the meaning, which weighs 1: a name or a number is found by its letters, a sentence by what it says."""
    return 1.0 if word_count <= MAX_KEYWORDS else LEXICAL_WEIGHT_OF_SENTENCES


def limit_per_document(keys: Iterable[PassageKey], limit: int) -> list[PassageKey]:
    """In their order, but at most so many of one document."""
    counts: Counter[object] = Counter()
    kept = []
    for key in keys:
        counts[key[0]] += 1
        if counts[key[0]] <= limit:
            kept.append(key)
    return kept
