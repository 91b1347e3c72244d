"""Baselines on the same passages: plain BM25, and the bare model. A document ranks by its best passage."""

from collections.abc import Sequence
from uuid import UUID

import bm25s
import numpy as np
import Stemmer
from numpy.typing import NDArray

from benchmarks.retrieval.metrics import distinct
from muniment.search.embedding.port import Embedder

Passages = Sequence[tuple[UUID, str, Sequence[float]]]
"""Document, text and vector of each passage."""
K1, B = 1.2, 0.75
DEPTH = 100


def rank_by_bm25(passages: Passages, queries: Sequence[str]) -> list[list[UUID]]:
    """Rank documents by BM25 as Lucene computes it, with English stop words and the Snowball stemmer."""
    stemmer = Stemmer.Stemmer("english")
    index = bm25s.BM25(method="lucene", k1=K1, b=B)
    texts = [text for _, text, _ in passages]
    index.index(bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False), show_progress=False)
    tokens = bm25s.tokenize(list(queries), stopwords="en", stemmer=stemmer, show_progress=False, return_ids=False)
    nothing = np.zeros(len(passages), np.float32)
    return [_ranked(passages, index.get_scores(words) if words else nothing, above=0.0) for words in tokens]


async def rank_by_model(passages: Passages, queries: Sequence[str], embedder: Embedder) -> list[list[UUID]]:
    """Rank documents by the cosine of the stored vectors to the query's, without any limit."""
    vectors = np.array([vector for _, _, vector in passages], np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    asked = [np.array(await embedder.embed_query(query), np.float32) for query in queries]
    return [_ranked(passages, vectors @ vector, above=-1.0) for vector in asked]


def _ranked(passages: Passages, scores: NDArray[np.float32], *, above: float) -> list[UUID]:
    order = np.argsort(-scores, kind="stable")[:DEPTH]
    return distinct(passages[position][0] for position in order if scores[position] > above)
