"""Where passages are found by their meaning. An index proposes; PostgreSQL decides what the caller may see."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from muniment.storage.db.work import Work

Vector = Sequence[float]


@dataclass(frozen=True)
class IndexingVariant:
    """Vectors of one model are of no use to another. `fingerprint` names the whole indexing variant."""

    model: str
    dimensions: int
    fingerprint: str


@dataclass(frozen=True)
class IndexedDocument:
    """A document as an index knows it."""

    document_id: UUID
    kb_id: UUID
    organization_id: UUID


@dataclass(frozen=True)
class Point:
    chunk_index: int
    page_number: int
    vector: Vector


@dataclass(frozen=True)
class Candidate:
    """A passage that an index holds for near. Nobody has looked yet whether the caller may see it."""

    document_id: UUID
    chunk_index: int
    epoch: int | None
    """Of the run that wrote it; `None` where there are no copies that could be old."""
    distance: float


@dataclass(frozen=True)
class StoredPoint:
    """A point as it lies in the index, for who compares it with the rows."""

    document_id: UUID
    epoch: int
    chunk_index: int
    is_visible: bool
    fingerprint: str | None
    """Of the model among those that were asked about; `None` where it is of none of them."""


class VectorIndex(Protocol):
    """One contract for all engines (tests/contracts/test_vector_search.py).

    An engine that does not answer raises `Unavailable`, and then the outcome is unknown.
    """

    name: str
    holds_copies: bool
    """Whether passages are copied there per document, so that moves must be told to it."""

    async def upsert(
        self, document: IndexedDocument, model: IndexingVariant, epoch: int, points: Sequence[Point]
    ) -> None:
        """Hold these points under this epoch, visible, and leave other epochs alone. Doing it twice changes nothing."""

    async def delete_document(self, document: IndexedDocument, *, before_epoch: int | None = None) -> None:
        """Forget every point of older epochs, or all of them. What is not there is no error. Verified by counting."""

    async def set_visible(self, document: IndexedDocument, *, is_visible: bool) -> None:
        """Show or hide the document's points in what `nearest` proposes."""

    async def count(self, document: IndexedDocument) -> int:
        """How many points are held, so that a purge can be proven."""

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
    ) -> Sequence[Candidate]:
        """The nearest visible passages of these knowledge bases, nearest first; fewer than `limit` when there are no
        more. `skip` goes on behind an earlier answer. `among` so many they are chosen, where that was counted before.
        `work` is the caller's transaction: an engine inside PostgreSQL asks through it, under the caller's row level
        security."""

    async def list_kb_ids(self) -> Sequence[UUID]:
        """The knowledge bases that copies are held of, those that are gone from PostgreSQL too."""

    def iter_points(
        self, kb_id: UUID, models: Sequence[IndexingVariant] = (), *, document_ids: Sequence[UUID] | None = None
    ) -> AsyncIterator[StoredPoint]:
        """Every copy held of this knowledge base, or of these documents in it, in whatever order; memory does not grow
        with their number."""

    async def delete_epochs(self, document: IndexedDocument, epochs: Sequence[int]) -> None:
        """Forget every point of these epochs. What is not there is no error. Verified by counting."""

    async def delete_collection(self, kb_id: UUID) -> None:
        """Forget a knowledge base with all its points. What is not there is no error."""

    async def check(self) -> str:
        """A few words when it works, `Unavailable` with a sentence when it does not."""

    async def close(self) -> None:
        """Let go of connections."""
