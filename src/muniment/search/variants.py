"""Indexing variants: the parameters by which chunks and vectors are made, and their fingerprint."""

from dataclasses import asdict

from muniment.artifacts.keys import fingerprint
from muniment.search.embedding.port import Embedder
from muniment.search.indexing.chunking import ChunkOptions
from muniment.storage.vectors.port import IndexingVariant

CHUNKING_VERSION = 1
"""Raised when our own code splits texts differently; everything else that changes a chunk or vector is a parameter."""


def indexing_variant(embedder: Embedder, options: ChunkOptions) -> IndexingVariant:
    """Return the variant of a model with these chunking options."""
    parameters = {"chunking": asdict(options), "embedding": dict(embedder.parameters)}
    return IndexingVariant(
        fingerprint=fingerprint({"indexing": parameters, "algorithm": CHUNKING_VERSION}),
        model=embedder.model,
        dimensions=embedder.dimensions,
    )


def variant_for(embedder: Embedder) -> IndexingVariant:
    """Return the variant of a model with the chunking options that suit it."""
    return indexing_variant(embedder, ChunkOptions(max_tokens=embedder.max_tokens))
