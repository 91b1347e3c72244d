"""Stores with a vector engine other than the default."""

from dataclasses import replace

from muniment.bootstrap.stores import Stores
from muniment.search.external_index.copier import IndexCopier
from muniment.storage.db.work import Database
from muniment.storage.vectors.port import ExternalIndex, IndexedDocument, VectorSearch
from muniment.storage.vectors.qdrant.index import QdrantIndex


def as_external(index: VectorSearch) -> ExternalIndex | None:
    """Return the engine if it is outside PostgreSQL."""
    return index if isinstance(index, QdrantIndex) else None


def with_vectors(stores: Stores, index: VectorSearch) -> Stores:
    return replace(stores, vectors=index, external_index=as_external(index))


def copier_of(database: Database, index: VectorSearch) -> IndexCopier | None:
    external = as_external(index)
    return IndexCopier(database, external) if external else None


async def count_points(index: VectorSearch, document: IndexedDocument) -> int:
    """Return how many copies an external index holds of the document."""
    external = as_external(index)
    return await external.count(document) if external else 0
