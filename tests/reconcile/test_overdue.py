"""What a sweep should have finished: swept again; what cannot be finished is told."""

from datetime import timedelta
from uuid import uuid4

import pytest

from muniment.reconcile.registry import ALERT_GRACE
from muniment.storage.db.base import new_id, now
from muniment.storage.vectors.qdrant.index import QdrantIndex
from tests.reconcile.harness import ReconcileHarness

LONG_AGO = now() - ALERT_GRACE - timedelta(days=20)


async def test_an_expired_upload_is_swept_with_its_object(floor: ReconcileHarness) -> None:
    document_id = new_id()
    key = f"{floor.kb_id}/{document_id}/1/original"
    await floor.stores.objects.put(key, b"half")
    floor.seed.insert(
        "uploads",
        id=new_id(),
        organization_id=floor.desk.owner.organization_id,
        knowledge_base_id=floor.kb_id,
        document_id=document_id,
        blob_key=key,
        uploaded_by=floor.desk.owner.id,
        expires_at=LONG_AGO,
    )
    assert await floor.drift() == {"uploads/overdue": (1, 1)}
    assert await floor.drift(repair=True) == {"uploads/overdue": (1, 0)}
    assert await floor.keys() == set()
    assert await floor.drift() == {}


def line(floor: ReconcileHarness, target: str, **columns: object) -> None:
    floor.seed.insert(
        "deletions",
        **{
            "id": new_id(),
            "organization_id": floor.desk.owner.organization_id,
            "store": "blobs",
            "target": target,
            "reason": "test",
            "created_at": LONG_AGO,
            "next_attempt_at": LONG_AGO,
            **columns,
        },
    )


async def test_a_line_that_nobody_carried_out_is_carried_out(floor: ReconcileHarness) -> None:
    key = f"{floor.kb_id}/{uuid4()}/1/original"
    await floor.stores.objects.put(key, b"to go")
    line(floor, key)
    assert await floor.drift() == {"ledger/overdue": (1, 1)}
    assert await floor.drift(repair=True) == {"ledger/overdue": (1, 0)}
    assert await floor.keys() == set()
    assert await floor.drift() == {}


async def test_a_line_that_fails_again_and_again_is_told(floor: ReconcileHarness) -> None:
    line(floor, "/not/a/key", attempts=5)
    assert await floor.drift(repair=True) == {"ledger/overdue": (1, 1)}


@pytest.mark.parametrize("columns", [{"created_at": now()}, {"next_attempt_at": now() + timedelta(days=1)}])
async def test_a_line_that_is_young_or_not_due_is_left_alone(
    floor: ReconcileHarness, columns: dict[str, object]
) -> None:
    line(floor, f"{floor.kb_id}/{uuid4()}/1/original", **columns)
    assert await floor.drift(repair=True) == {}
    assert floor.seed.one("SELECT done_at FROM deletions") is None


@pytest.mark.parametrize("floor", ["qdrant"], indirect=True)
async def test_an_intent_that_nobody_settled_is_settled(floor: ReconcileHarness) -> None:
    document_id = await floor.completed()
    await floor.index.set_visible(floor.indexed(document_id), is_visible=False)
    floor.seed.insert(
        "index_intents",
        document_id=document_id,
        id=new_id(),
        organization_id=floor.desk.owner.organization_id,
        knowledge_base_id=floor.kb_id,
        wanted="hidden",
        epoch=1,
        created_at=LONG_AGO,
        next_attempt_at=LONG_AGO,
    )
    assert await floor.drift() == {"intents/overdue": (1, 1)}
    assert await floor.drift(repair=True) == {"intents/overdue": (1, 0)}
    assert isinstance(floor.index, QdrantIndex)
    assert {item.is_visible async for item in floor.index.iter_points(floor.kb_id)} == {True}
    assert await floor.drift() == {}


async def test_a_receipt_that_nobody_signed_is_signed(floor: ReconcileHarness) -> None:
    document_id, event_id = new_id(), new_id()
    owner = floor.desk.owner
    floor.seed.insert(
        "audit_events",
        id=event_id,
        action="document_purged",
        actor=str(owner.id),
        organization_id=owner.organization_id,
        knowledge_base_id=floor.kb_id,
        document_id=document_id,
        payload={},
    )
    floor.seed.insert(
        "receipts",
        id=new_id(),
        organization_id=owner.organization_id,
        knowledge_base_id=floor.kb_id,
        owner_id=owner.id,
        document_id=document_id,
        document_name="gone.pdf",
        move="purge",
        actor=str(owner.id),
        event_id=event_id,
        found={"originals": [], "rows": {}, "artifacts": [], "jobs": [], "hand_over": None},
        created_at=LONG_AGO,
        next_attempt_at=LONG_AGO,
    )
    assert await floor.drift() == {"receipts/overdue": (1, 1)}
    assert await floor.drift(repair=True) == {"receipts/overdue": (1, 0)}
    assert floor.seed.one("SELECT signed_at IS NOT NULL FROM receipts")
    assert await floor.drift() == {}


async def test_an_artifact_that_the_collection_left_is_told_when_its_grace_is_long_over(
    floor: ReconcileHarness,
) -> None:
    document_id = await floor.completed()
    floor.seed.execute("UPDATE artifacts_full_text SET unreferenced_at = %s", LONG_AGO)
    assert await floor.drift(repair=True) == {}, "a document shows it"
    floor.seed.execute("DELETE FROM documents")
    await floor.stores.objects.delete(f"{floor.kb_id}/{document_id}/1/original")
    assert await floor.drift(repair=True) == {"artifacts/overdue": (1, 1)}
    floor.seed.execute("UPDATE artifacts_full_text SET unreferenced_at = now()")
    assert await floor.drift() == {}
