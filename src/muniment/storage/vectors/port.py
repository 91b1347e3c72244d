"""Ports of the vector engines. An engine proposes candidates; PostgreSQL decides which of them the caller may see.

`VectorSearch` is what every engine does, `ExternalIndex` what an engine outside PostgreSQL does in addition. One
contract suite runs against all engines (tests/contracts/test_vector_search.py, test_external_index.py).
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from muniment.storage.db.work import Work

Vector = Sequence[float]


@dataclass(frozen=True, kw_only=True)
class IndexingVariant:
    """A way of making chunks and vectors. Vectors of different variants cannot be compared."""

    fingerprint: str
    model: str
    dimensions: int


@dataclass(frozen=True)
class IndexedDocument:
    """Ids that identify a document to an external index."""

    document_id: UUID
    kb_id: UUID
    organization_id: UUID


@dataclass(frozen=True)
class Point:
    """Vector of one passage."""

    chunk_index: int
    page_number: int
    vector: Vector


@dataclass(frozen=True)
class Candidate:
    """A passage that an engine proposes. It is not yet known whether the caller may see it."""

    document_id: UUID
    chunk_index: int
    epoch: int | None
    """Epoch of the run that stored the copy, which may be outdated. `None` if the engine holds no copies."""
    distance: float


@dataclass(frozen=True)
class DocumentCondition:
    """A condition on the column `document_id`, for engines inside PostgreSQL."""

    sql: str
    """With a leading `AND`."""
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class StoredPoint:
    """A point as the external index holds it, to be compared with the rows."""

    document_id: UUID
    epoch: int
    chunk_index: int
    is_visible: bool
    fingerprint: str | None
    """Fingerprint of its variant, or `None` if that is not one of the requested ones."""


class VectorSearch(Protocol):
    """A vector engine. An engine that is not responding raises `Unavailable`."""

    name: str

    async def nearest(
        self,
        work: Work[Any],
        model: IndexingVariant,
        kb_ids: Sequence[UUID],
        vector: Vector,
        *,
        limit: int,
        offset: int = 0,
        scope_size: int | None = None,
        documents: DocumentCondition | None = None,
    ) -> Sequence[Candidate]:
        """Return the nearest visible passages of these knowledge bases, nearest first; fewer than `limit` if there are
        no more. `offset` skips the candidates of earlier calls. `scope_size` is the number of passages in scope, if the
        caller has counted them. `documents` limits the documents; an engine that cannot apply it ignores it, because
        the caller confirms all candidates. `work` is the caller's transaction: an engine inside PostgreSQL queries
        through it, under the caller's row level security."""

    async def check(self) -> str:
        """Return a short description of the working engine, or raise `Unavailable` with advice for the operator."""

    async def close(self) -> None:
        """Close all connections."""


class ExternalIndex(VectorSearch, Protocol):
    """A vector engine outside PostgreSQL that holds a copy of each document's passages.

    `Unavailable` means that the outcome of a change is unknown; the open intent repairs it.
    """

    async def upsert(
        self, document: IndexedDocument, model: IndexingVariant, epoch: int, points: Sequence[Point]
    ) -> None:
        """Store these points under this epoch, visible, and leave other epochs alone. Idempotent."""

    async def delete_document(self, document: IndexedDocument, *, before_epoch: int | None = None) -> None:
        """Delete all points of the document, or those of older epochs, and verify it by counting. Missing points are
        not an error."""

    async def delete_epochs(self, document: IndexedDocument, epochs: Sequence[int]) -> None:
        """Delete all points of these epochs, and verify it by counting. Missing points are not an error."""

    async def delete_collection(self, kb_id: UUID) -> None:
        """Delete a knowledge base with all its points. A missing one is not an error."""

    async def set_visible(self, document: IndexedDocument, *, is_visible: bool) -> None:
        """Show or hide the document's points in the results of `nearest`."""

    async def count(self, document: IndexedDocument) -> int:
        """Return the number of stored points, so that a purge can be proven."""

    async def list_kb_ids(self) -> Sequence[UUID]:
        """Return the knowledge bases that have a collection, even if they are deleted in PostgreSQL."""

    def iter_points(
        self, kb_id: UUID, models: Sequence[IndexingVariant] = (), *, document_ids: Sequence[UUID] | None = None
    ) -> AsyncIterator[StoredPoint]:
        """Yield all points of this knowledge base, or of these documents in it, in any order and in constant memory."""
