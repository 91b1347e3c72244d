"""`GET /api/v1/receipts/{id}`: what each store held, and what a second check found, for users with access."""

import base64
import hashlib
import json
from uuid import uuid4

import psycopg
import pytest

from muniment.audit.receipts.record import verify_receipt
from muniment.storage.db.address import APP_LOGIN, SERVICE_LOGIN
from muniment.telemetry.metrics import render
from tests.lifecycle.purge.harness import PurgeHarness


async def test_a_receipt_says_what_was_there_and_verifies_offline(purge_env: PurgeHarness) -> None:
    document_id = await purge_env.archived(b"twelve bytes", name="Contract.pdf")
    key, sha256 = f"{purge_env.worker_env.kb_id}/{document_id}/1/original", hashlib.sha256(b"twelve bytes").hexdigest()
    pack = purge_env.worker_env.seed.one("SELECT full_text_uri FROM artifacts_full_text")
    passages = purge_env.worker_env.seed.one("SELECT count(*) FROM artifact_chunks")
    answer = await purge_env.purge(document_id)
    receipt = await purge_env.receipt(answer.json()["receipt_id"])
    record = receipt["record"]
    assert record["move"] == "purge"
    assert record["document"] == {
        "id": str(document_id),
        "name": "Contract.pdf",
        "kb_id": str(purge_env.worker_env.kb_id),
    }
    assert record["by"] == str(purge_env.worker_env.owner.id)
    found = record["found"]
    assert found["originals"] == [{"revision": 1, "key": key, "bytes": 12, "sha256": sha256}]
    assert [(item["pack"], item["passages"], item["pages"]) for item in found["artifacts"]] == [(pack, passages, 2)]
    assert found["rows"]["document_pages"] == 2
    assert set(record["second_look"]["left"].values()) == {0}
    assert record["second_look"]["looked_for"]["blobs"] == 2
    public_key = base64.b64encode(purge_env.parts.engine.prover.sealer.signer.public_key).decode()
    assert verify_receipt(json.dumps(receipt), public_key).is_key_known
    assert "invoices" not in json.dumps(receipt)  # the text of the document


async def test_its_place_in_the_audit_chain_is_that_of_its_own_line(purge_env: PurgeHarness) -> None:
    record = (await purge_env.receipt((await purge_env.purge(await purge_env.archived())).json()["receipt_id"]))[
        "record"
    ]
    question = (
        "SELECT s.seq, s.hash, e.action FROM audit_seals s JOIN audit_events e ON e.id = s.event_id WHERE e.id = %s"
    )
    ((seq, digest, action),) = purge_env.worker_env.seed.rows(question, record["audit"]["event_id"])
    assert (record["audit"]["seq"], record["audit"]["hash"], action) == (seq, digest.hex(), "document_purged")


async def test_owner_and_admin_read_it_everybody_else_gets_404(purge_env: PurgeHarness) -> None:
    receipt_id = (await purge_env.purge(await purge_env.archived())).json()["receipt_id"]
    seed, owner = purge_env.worker_env.seed, purge_env.worker_env.owner
    editor = seed.person(owner.organization_id)
    seed.member(purge_env.worker_env.kb_id, editor, "editor")
    for person, status in (
        (owner, 200),
        (seed.person(owner.organization_id, is_admin=True), 200),
        (editor, 404),
        (seed.person(owner.organization_id), 404),
        (seed.person(is_admin=True), 404),
        (seed.person(is_operator=True), 404),
    ):
        async with purge_env.client_of(person) as client:
            assert (await client.get(f"/api/v1/receipts/{receipt_id}")).status_code == status
            listed = (await client.get("/api/v1/receipts")).json()
            assert [item["id"] for item in listed["items"]] == ([receipt_id] if status == 200 else [])
    assert (await purge_env.client.get(f"/api/v1/receipts/{uuid4()}")).json() == {"detail": "Receipt not found"}


async def test_who_owns_the_knowledge_base_last_reads_its_receipts_also_when_it_is_gone(
    purge_env: PurgeHarness,
) -> None:
    receipt_id = (await purge_env.purge(await purge_env.archived())).json()["receipt_id"]
    heir = purge_env.worker_env.seed.person(purge_env.worker_env.owner.organization_id)
    change = await purge_env.client.patch(purge_env.kb_path, json={"owner_id": str(heir.id)})
    assert change.status_code == 200
    async with purge_env.client_of(heir) as client:
        assert (await client.delete(purge_env.kb_path)).status_code == 204
        assert (await client.get(f"/api/v1/receipts/{receipt_id}")).status_code == 200
    assert (await purge_env.client.get(f"/api/v1/receipts/{receipt_id}")).status_code == 404


async def test_what_is_not_signed_is_no_receipt_yet(purge_env: PurgeHarness) -> None:
    document_id = await purge_env.archived()
    purge_env.objects.is_unavailable = True
    url = (await purge_env.purge(document_id)).json()["receipt_url"]
    answer = await purge_env.client.get(url)
    receipt_id = str(purge_env.worker_env.seed.one("SELECT id FROM receipts"))
    assert (answer.status_code, answer.json()["id"], answer.json()["pending"]) == (202, receipt_id, ["blobs"])
    assert answer.headers["retry-after"] == "5"
    assert (await purge_env.client.get("/api/v1/receipts")).json()["total"] == 0
    async with purge_env.client_of(purge_env.worker_env.seed.person()) as stranger:
        assert (await stranger.get(url)).status_code == 404
    purge_env.objects.is_unavailable = False
    await purge_env.sweep()
    assert (await purge_env.client.get(url)).json()["record"]["document"]["id"] == str(document_id)


async def test_a_cleared_upload_leaves_a_receipt_that_the_sweep_finishes(purge_env: PurgeHarness) -> None:
    failed_id = purge_env.failed()
    name = purge_env.worker_env.seed.one("SELECT name FROM documents")
    files = {"file": (name, b"%PDF-1.4 new")}
    answer = await purge_env.client.post(f"{purge_env.kb_path}/documents", files=files)
    assert answer.json()["auto_cleared_document_id"] == str(failed_id)
    ((move, actor, signed_at),) = purge_env.worker_env.seed.rows("SELECT move, actor, signed_at FROM receipts")
    assert (move, actor, signed_at) == ("auto_clear", "system", None)
    await purge_env.sweep()
    (listed,) = (await purge_env.client.get("/api/v1/receipts")).json()["items"]
    record = (await purge_env.receipt(listed["id"]))["record"]
    assert (record["move"], record["document"]["id"]) == ("auto_clear", str(failed_id))
    assert (await purge_env.clear(failed_id)).json()["receipt_id"] == listed["id"]


async def test_what_waits_for_its_receipt_is_told_with_its_age(purge_env: PurgeHarness) -> None:
    document_id = await purge_env.archived()
    purge_env.objects.is_unavailable = True
    await purge_env.purge(document_id)
    purge_env.worker_env.seed.execute("UPDATE receipts SET created_at = now() - interval '1 hour'")
    await purge_env.sweep()
    shown = render()[0].decode()
    assert "muniment_receipts_unfinished 1.0" in shown
    (age,) = [line for line in shown.splitlines() if line.startswith("muniment_receipts_oldest_seconds ")]
    assert float(age.split()[1]) >= 3600
    purge_env.objects.is_unavailable = False
    await purge_env.sweep()
    assert "muniment_receipts_unfinished 0.0" in render()[0].decode()


@pytest.mark.parametrize("login", [APP_LOGIN, SERVICE_LOGIN])
async def test_no_login_may_delete_one(purge_env: PurgeHarness, login: str) -> None:
    await purge_env.purge(await purge_env.archived())
    assert not purge_env.worker_env.seed.one("SELECT has_table_privilege(%s, 'receipts', 'DELETE')", login)
    assert purge_env.worker_env.seed.one("SELECT has_table_privilege(%s, 'receipts', 'UPDATE')", login) == (
        login != APP_LOGIN
    )


async def test_nobody_writes_a_tombstone_of_a_document_that_is_there(purge_env: PurgeHarness) -> None:
    document_id = await purge_env.archived()
    insertion = """INSERT INTO receipts (id, organization_id, knowledge_base_id, owner_id, document_id, document_name,
                       move, actor, event_id, found, next_attempt_at)
                   SELECT gen_random_uuid(), organization_id, knowledge_base_id, uploaded_by, id, name, 'purge', 'x',
                          gen_random_uuid(), '{}', now() FROM documents WHERE id = %s"""
    connection = await purge_env.stores.database.app_engine.connect()
    try:
        setting = f"SELECT set_config('app.user_id', '{purge_env.worker_env.owner.id}', false)"
        await connection.exec_driver_sql(setting)
        with pytest.raises(Exception, match="row-level security") as refused:
            await connection.exec_driver_sql(insertion, (document_id,))
        assert isinstance(getattr(refused.value, "orig", None), psycopg.errors.InsufficientPrivilege)
    finally:
        await connection.invalidate()
        await connection.close()
