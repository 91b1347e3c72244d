"""Points in Qdrant: names of collections and points, payload, and filters on it."""

from collections.abc import Sequence
from uuid import UUID, uuid5

from qdrant_client.models import (
    Condition,
    FieldCondition,
    Filter,
    MatchAny,
    MatchValue,
    PayloadSchemaType,
    PointStruct,
    Range,
    Record,
    ScoredPoint,
)

from muniment.storage.vectors.port import Candidate, IndexedDocument, IndexingVariant, Point, StoredPoint

COLLECTION_PREFIX = "kb_"
VISIBLE = "completed"
HIDDEN = "archived"

PAYLOAD_SCHEMA = {
    "doc_id": PayloadSchemaType.KEYWORD,
    "status": PayloadSchemaType.KEYWORD,
    "epoch": PayloadSchemaType.INTEGER,
    "page": PayloadSchemaType.INTEGER,
    "chunk_index": PayloadSchemaType.INTEGER,
}
"""Fields of the payload, all of them indexed (docs/contracts.md#qdrant)."""

CANDIDATE_PAYLOAD = ["doc_id", "epoch", "chunk_index"]
COMPARISON_PAYLOAD = [*CANDIDATE_PAYLOAD, "status"]

VISIBLE_FILTER = Filter(must=[FieldCondition(key="status", match=MatchValue(value=VISIBLE))])


def collection_name(kb_id: UUID) -> str:
    """Return the name of the collection of a knowledge base."""
    return f"{COLLECTION_PREFIX}{kb_id}"


def parse_kb_id(collection: str) -> UUID | None:
    """Return the knowledge base of a collection, or `None` if it is not one of ours."""
    try:
        kb_id = UUID(collection.removeprefix(COLLECTION_PREFIX))
    except ValueError:
        return None
    return kb_id if collection == collection_name(kb_id) else None


def point_id(document_id: UUID, epoch: int, chunk_index: int, model: IndexingVariant) -> UUID:
    """Return the id of a point, which is the same whenever the same passage is stored."""
    return uuid5(document_id, f"{epoch}/{chunk_index}/{model.fingerprint}")


def to_point(document: IndexedDocument, model: IndexingVariant, epoch: int, point: Point) -> PointStruct:
    """Convert a point of ours to one of Qdrant."""
    return PointStruct(
        id=str(point_id(document.document_id, epoch, point.chunk_index, model)),
        vector={model.fingerprint: list(point.vector)},
        payload={
            "doc_id": str(document.document_id),
            "status": VISIBLE,
            "epoch": epoch,
            "page": point.page_number,
            "chunk_index": point.chunk_index,
        },
    )


def to_candidate(point: ScoredPoint) -> Candidate:
    """Convert a search result of Qdrant to a candidate."""
    payload = point.payload or {}
    return Candidate(
        document_id=UUID(payload["doc_id"]),
        chunk_index=payload["chunk_index"],
        epoch=payload["epoch"],
        distance=1 - point.score,  # the score is the cosine
    )


def to_stored_point(record: Record, models: Sequence[IndexingVariant]) -> StoredPoint:
    """Convert a stored record of Qdrant, and identify its variant among these."""
    payload = record.payload or {}
    document_id, epoch, chunk_index = UUID(payload["doc_id"]), payload["epoch"], payload["chunk_index"]
    # The id identifies the variant, so that the vector need not be read.
    fingerprints = (
        model.fingerprint for model in models if str(point_id(document_id, epoch, chunk_index, model)) == str(record.id)
    )
    return StoredPoint(document_id, epoch, chunk_index, payload["status"] == VISIBLE, next(fingerprints, None))


def documents_filter(document_ids: Sequence[UUID] | None) -> Filter | None:
    """Return a filter for the points of these documents, or `None` for all points."""
    if document_ids is None:
        return None
    return Filter(must=[FieldCondition(key="doc_id", match=MatchAny(any=[str(each) for each in document_ids]))])


def epochs_filter(document: IndexedDocument, epochs: Sequence[int]) -> Filter:
    """Return a filter for the points of these epochs of a document."""
    of_these = FieldCondition(key="epoch", match=MatchAny(any=list(epochs)))
    return Filter(must=[FieldCondition(key="doc_id", match=MatchValue(value=str(document.document_id))), of_these])


def document_filter(document: IndexedDocument, *, before_epoch: int | None = None) -> Filter:
    """Return a filter for all points of a document, or those of older epochs."""
    conditions: list[Condition] = [FieldCondition(key="doc_id", match=MatchValue(value=str(document.document_id)))]
    if before_epoch is not None:
        conditions.append(FieldCondition(key="epoch", range=Range(lt=before_epoch)))
    return Filter(must=conditions)
