"""Combine the two halves of search by score, and limit the hits per document.

Both halves give scores from 0 to 1 and count equally: the lexical one is BM25 as a share of the weight of the
query, the semantic one how far its similarity lies between the lower limit and the best one found. Chosen by
measurement on the FAQs of Perl, Python and Debian (docs/decisions/0024-relevance-of-meaning.md).
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from muniment.search.query.request import PassageKey

KeyT = TypeVar("KeyT", bound=Hashable)


@dataclass(frozen=True)
class Ranking(Generic[KeyT]):
    """Ranked keys with their scores from 0 to 1, best first."""

    scores: Mapping[KeyT, float]

    @classmethod
    def by_similarity(cls, similarities: Mapping[KeyT, float], min_similarity: float | None) -> "Ranking[KeyT]":
        """Return a ranking by similarity between the lower limit, or the least one found, and the best one."""
        if not similarities:
            return Ranking({})
        best = max(similarities.values())
        least = min(similarities.values()) if min_similarity is None else min_similarity
        width = best - least
        return Ranking({key: (found - least) / width if width > 0 else 1.0 for key, found in similarities.items()})


def fuse(rankings: Sequence[Ranking[KeyT]]) -> list[tuple[KeyT, float]]:
    """Return keys and mean scores, best first; a key that a ranking lacks scores 0 there. Ties keep their order."""
    scores: dict[KeyT, float] = {}
    for ranking in rankings:
        for key, score in ranking.scores.items():
            scores[key] = scores.get(key, 0.0) + score / len(rankings)
    return sorted(scores.items(), key=lambda item: -item[1])


def limit_per_document(keys: Iterable[PassageKey], limit: int) -> list[PassageKey]:
    """Keep the order, but drop keys beyond `limit` per document."""
    counts: Counter[object] = Counter()
    kept = []
    for key in keys:
        counts[key[0]] += 1
        if counts[key[0]] <= limit:
            kept.append(key)
    return kept
