"""Work that a sweep should have finished is swept again; what cannot be finished is reported."""

from datetime import timedelta
from uuid import uuid4

import pytest

from muniment.reconcile.registry import ALERT_GRACE
from muniment.storage.db.base import new_id, now
from muniment.storage.vectors.qdrant.index import QdrantIndex
from tests.reconcile.harness import ReconcileHarness

LONG_AGO = now() - ALERT_GRACE - timedelta(days=20)


async def test_an_expired_upload_is_swept_with_its_object(reconcile_env: ReconcileHarness) -> None:
    document_id = new_id()
    key = f"{reconcile_env.kb_id}/{document_id}/1/original"
    await reconcile_env.stores.objects.put(key, b"half")
    reconcile_env.seed.insert(
        "uploads",
        id=new_id(),
        organization_id=reconcile_env.worker_env.owner.organization_id,
        knowledge_base_id=reconcile_env.kb_id,
        document_id=document_id,
        blob_key=key,
        uploaded_by=reconcile_env.worker_env.owner.id,
        expires_at=LONG_AGO,
    )
    assert await reconcile_env.drift() == {"uploads/overdue": (1, 1)}
    assert await reconcile_env.drift(repair=True) == {"uploads/overdue": (1, 0)}
    assert await reconcile_env.keys() == set()
    assert await reconcile_env.drift() == {}


async def test_a_failed_replacement_is_expected_until_it_expires(reconcile_env: ReconcileHarness) -> None:
    document_id = await reconcile_env.completed()
    await reconcile_env.stores.objects.put(
        reconcile_env.seed.failed_replacement(document_id, expires_at=now() + timedelta(days=7)), b"bytes"
    )
    assert await reconcile_env.drift() == {}
    reconcile_env.seed.execute("UPDATE document_revisions SET expires_at = %s WHERE failure IS NOT NULL", LONG_AGO)
    assert await reconcile_env.drift() == {"replacements/overdue": (1, 1)}
    assert await reconcile_env.drift(repair=True) == {"replacements/overdue": (1, 0)}
    assert reconcile_env.seed.one("SELECT count(*) FROM document_revisions") == 1
    assert reconcile_env.original(document_id) in await reconcile_env.keys()
    assert await reconcile_env.drift() == {}


def line(reconcile_env: ReconcileHarness, target: str, **columns: object) -> None:
    reconcile_env.seed.insert(
        "deletions",
        **{
            "id": new_id(),
            "organization_id": reconcile_env.worker_env.owner.organization_id,
            "store": "blobs",
            "target": target,
            "reason": "test",
            "created_at": LONG_AGO,
            "next_attempt_at": LONG_AGO,
            **columns,
        },
    )


async def test_an_overdue_ledger_entry_is_processed(reconcile_env: ReconcileHarness) -> None:
    key = f"{reconcile_env.kb_id}/{uuid4()}/1/original"
    await reconcile_env.stores.objects.put(key, b"to go")
    line(reconcile_env, key)
    assert await reconcile_env.drift() == {"ledger/overdue": (1, 1)}
    assert await reconcile_env.drift(repair=True) == {"ledger/overdue": (1, 0)}
    assert await reconcile_env.keys() == set()
    assert await reconcile_env.drift() == {}


async def test_a_ledger_entry_that_keeps_failing_is_reported(reconcile_env: ReconcileHarness) -> None:
    line(reconcile_env, "/not/a/key", attempts=5)
    assert await reconcile_env.drift(repair=True) == {"ledger/overdue": (1, 1)}


@pytest.mark.parametrize("columns", [{"created_at": now()}, {"next_attempt_at": now() + timedelta(days=1)}])
async def test_a_line_that_is_young_or_not_due_is_left_alone(
    reconcile_env: ReconcileHarness, columns: dict[str, object]
) -> None:
    line(reconcile_env, f"{reconcile_env.kb_id}/{uuid4()}/1/original", **columns)
    assert await reconcile_env.drift(repair=True) == {}
    assert reconcile_env.seed.one("SELECT done_at FROM deletions") is None


@pytest.mark.parametrize("reconcile_env", ["qdrant"], indirect=True)
async def test_an_overdue_intent_is_settled(reconcile_env: ReconcileHarness) -> None:
    document_id = await reconcile_env.completed()
    await reconcile_env.index.set_visible(reconcile_env.indexed(document_id), is_visible=False)
    reconcile_env.seed.insert(
        "index_intents",
        document_id=document_id,
        id=new_id(),
        organization_id=reconcile_env.worker_env.owner.organization_id,
        knowledge_base_id=reconcile_env.kb_id,
        wanted="hidden",
        epoch=1,
        created_at=LONG_AGO,
        next_attempt_at=LONG_AGO,
    )
    assert await reconcile_env.drift() == {"intents/overdue": (1, 1)}
    assert await reconcile_env.drift(repair=True) == {"intents/overdue": (1, 0)}
    assert isinstance(reconcile_env.index, QdrantIndex)
    assert {item.is_visible async for item in reconcile_env.index.iter_points(reconcile_env.kb_id)} == {True}
    assert await reconcile_env.drift() == {}


async def test_an_unsigned_receipt_is_signed(reconcile_env: ReconcileHarness) -> None:
    document_id, event_id = new_id(), new_id()
    owner = reconcile_env.worker_env.owner
    reconcile_env.seed.insert(
        "audit_events",
        id=event_id,
        action="document_purged",
        actor=str(owner.id),
        organization_id=owner.organization_id,
        knowledge_base_id=reconcile_env.kb_id,
        document_id=document_id,
        payload={},
    )
    reconcile_env.seed.insert(
        "receipts",
        id=new_id(),
        organization_id=owner.organization_id,
        knowledge_base_id=reconcile_env.kb_id,
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
    assert await reconcile_env.drift() == {"receipts/overdue": (1, 1)}
    assert await reconcile_env.drift(repair=True) == {"receipts/overdue": (1, 0)}
    assert reconcile_env.seed.one("SELECT signed_at IS NOT NULL FROM receipts")
    assert await reconcile_env.drift() == {}


async def test_an_uncollected_artifact_is_reported_long_after_its_grace_period(
    reconcile_env: ReconcileHarness,
) -> None:
    document_id = await reconcile_env.completed()
    reconcile_env.seed.execute("UPDATE artifacts_full_text SET unreferenced_at = %s", LONG_AGO)
    assert await reconcile_env.drift(repair=True) == {}, "a document shows it"
    reconcile_env.seed.execute("DELETE FROM documents")
    await reconcile_env.stores.objects.delete(f"{reconcile_env.kb_id}/{document_id}/1/original")
    assert await reconcile_env.drift(repair=True) == {"artifacts/overdue": (1, 1)}
    reconcile_env.seed.execute("UPDATE artifacts_full_text SET unreferenced_at = now()")
    assert await reconcile_env.drift() == {}
