"""Indexing variants: which way chunks and vectors are made. Vectors of one variant are of no use to another."""

from dataclasses import asdict, dataclass

from muniment.artifacts.keys import fingerprint
from muniment.search.embedding.port import Embedder
from muniment.search.indexing.chunking import ChunkOptions

CHUNKING_VERSION = 1
"""Raised when our own code cuts differently; everything else that changes a chunk or a vector is a parameter."""


@dataclass(frozen=True)
class IndexingVariant:
    """Which way of making chunks and vectors. Those of one are of no use to another."""

    fingerprint: str
    model: str
    dimensions: int


def indexing_variant(embedder: Embedder, options: ChunkOptions) -> IndexingVariant:
    parameters = {"chunking": asdict(options), "embedding": dict(embedder.parameters)}
    named = fingerprint({"indexing": parameters, "algorithm": CHUNKING_VERSION})
    return IndexingVariant(named, embedder.model, embedder.dimensions)


def variant_for(embedder: Embedder) -> IndexingVariant:
    return indexing_variant(embedder, ChunkOptions(max_tokens=embedder.max_tokens))
