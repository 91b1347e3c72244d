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
"""The payload (docs/contracts.md#qdrant), all of it indexed."""

CANDIDATE_PAYLOAD = ["doc_id", "epoch", "chunk_index"]
COMPARISON_PAYLOAD = [*CANDIDATE_PAYLOAD, "status"]

VISIBLE_FILTER = Filter(must=[FieldCondition(key="status", match=MatchValue(value=VISIBLE))])


def collection_name(kb_id: UUID) -> str:
    return f"{COLLECTION_PREFIX}{kb_id}"


def parse_kb_id(collection: str) -> UUID | None:
    """`None` for a collection that is not ours."""
    try:
        kb_id = UUID(collection.removeprefix(COLLECTION_PREFIX))
    except ValueError:
        return None
    return kb_id if collection == collection_name(kb_id) else None


def point_id(document_id: UUID, epoch: int, chunk_index: int, model: IndexingVariant) -> UUID:
    """The same for the same passage: whoever writes it twice writes it once."""
    return uuid5(document_id, f"{epoch}/{chunk_index}/{model.fingerprint}")


def to_point(document: IndexedDocument, model: IndexingVariant, epoch: int, point: Point) -> PointStruct:
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
    payload = point.payload or {}
    return Candidate(
        document_id=UUID(payload["doc_id"]),
        chunk_index=payload["chunk_index"],
        epoch=payload["epoch"],
        distance=1 - point.score,  # the score is the cosine
    )


def to_stored_point(record: Record, models: Sequence[IndexingVariant]) -> StoredPoint:
    payload = record.payload or {}
    document_id, epoch, chunk_index = UUID(payload["doc_id"]), payload["epoch"], payload["chunk_index"]
    # The id tells the model, without the vector.
    named = (
        model.fingerprint for model in models if str(point_id(document_id, epoch, chunk_index, model)) == str(record.id)
    )
    return StoredPoint(document_id, epoch, chunk_index, payload["status"] == VISIBLE, next(named, None))


def documents_filter(document_ids: Sequence[UUID] | None) -> Filter | None:
    if document_ids is None:
        return None
    return Filter(must=[FieldCondition(key="doc_id", match=MatchAny(any=[str(each) for each in document_ids]))])


def epochs_filter(document: IndexedDocument, epochs: Sequence[int]) -> Filter:
    of_these = FieldCondition(key="epoch", match=MatchAny(any=list(epochs)))
    return Filter(must=[FieldCondition(key="doc_id", match=MatchValue(value=str(document.document_id))), of_these])


def document_filter(document: IndexedDocument, *, before_epoch: int | None = None) -> Filter:
    conditions: list[Condition] = [FieldCondition(key="doc_id", match=MatchValue(value=str(document.document_id)))]
    if before_epoch is not None:
        conditions.append(FieldCondition(key="epoch", range=Range(lt=before_epoch)))
    return Filter(must=conditions)
