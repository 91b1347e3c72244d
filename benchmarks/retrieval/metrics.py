"""Metrics of a ranking of documents with binary judgements, as TREC defines them."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import mean
from uuid import UUID

DEPTH = 10


@dataclass(frozen=True)
class Quality:
    """Means over the questions of a collection, each of the first ten documents."""

    ndcg: float
    recall: float
    mrr: float

    def __str__(self) -> str:
        return f"{self.ndcg:.3f} / {self.recall:.3f} / {self.mrr:.3f}"


def measure_rankings(rankings: Sequence[Sequence[UUID]], relevant: Sequence[frozenset[UUID]]) -> Quality:
    judged = [(ranking[:DEPTH], answers) for ranking, answers in zip(rankings, relevant, strict=True)]
    return Quality(
        mean(_ndcg(*question) for question in judged),
        mean(len(answers.intersection(ranking)) / len(answers) for ranking, answers in judged),
        mean(
            next((1 / rank for rank, found in enumerate(ranking, 1) if found in answers), 0)
            for ranking, answers in judged
        ),
    )


def _ndcg(ranking: Sequence[UUID], answers: frozenset[UUID]) -> float:
    gain = sum(1 / math.log2(rank + 1) for rank, found in enumerate(ranking, 1) if found in answers)
    return gain / sum(1 / math.log2(rank + 1) for rank in range(1, min(len(answers), DEPTH) + 1))


def distinct(documents: Iterable[UUID]) -> list[UUID]:
    """Return each document once, at its best passage."""
    return list(dict.fromkeys(documents))
