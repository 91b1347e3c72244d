"""A failed upload that never completed is cleared by a new upload of its name, and by nothing else."""

from uuid import UUID

import pytest

from muniment.settings import Settings
from muniment.storage.db.principal import Service
from muniment.telemetry.metrics import REGISTRY
from tests.artifacts.artifacts_fixture import ArtifactsFixture, a_key
from tests.documents.uploads import KB, a_pdf, stored_keys, upload, with_documents
from tests.support.live_api import RunningApi, running_api
from tests.support.log_lines import capture_logs
from tests.support.seed import Person, Seed


async def a_failed_upload(api: RunningApi, seed: Seed, kb_id: UUID, uploader: Person, name: str = "report.pdf") -> UUID:
    document_id = seed.document(kb_id, uploader, name=name, status="failed", last_error="The file is damaged")
    await api.stores.objects.put(f"{kb_id}/{document_id}/1/original", b"older bytes")
    return document_id


async def test_failed_upload_is_cleared_with_its_bytes(api: RunningApi, kb: KB, seed: Seed) -> None:
    failed = await a_failed_upload(api, seed, kb.id, kb.owner, "Report.pdf")

    answer = await kb.upload(name="report.pdf")

    body = answer.json()
    assert (answer.status_code, body["name"], body["status"]) == (201, "report.pdf", "pending")
    assert body["auto_cleared_document_id"] == str(failed)
    assert body["message"] == "Previous failed upload was automatically cleared"
    assert seed.rows("SELECT id::text FROM documents") == [(body["id"],)]
    assert seed.rows("SELECT document_id::text FROM document_revisions") == [(body["id"],)]
    assert await stored_keys(api) == [f"{kb.id}/{body['id']}/1/original"]
    lines = seed.rows("SELECT store, document_id, reason, done_at IS NOT NULL FROM deletions ORDER BY store")
    assert lines == [("artifacts", failed, "auto_clear", True), ("blobs", failed, "auto_clear", True)]


@pytest.mark.parametrize("is_used", [False, True])
async def test_what_was_read_from_it_goes_along_unless_others_show_it(
    api: RunningApi, kb: KB, seed: Seed, is_used: bool
) -> None:
    failed = await a_failed_upload(api, seed, kb.id, kb.owner)
    artifacts_env = ArtifactsFixture(seed, api.stores.database, api.stores.objects)
    key = a_key(kb.owner.organization_id, seed.one("SELECT content_hmac FROM documents WHERE id = %s", failed))
    full = await artifacts_env.add_artifact(key, service=Service(kb.owner.organization_id))
    if is_used:
        seed.document(kb.id, kb.owner, name="other.pdf", artifact_text_id=full.id)

    assert (await kb.upload()).json()["auto_cleared_document_id"] == str(failed)

    assert artifacts_env.ids() == ({full.id} if is_used else set())
    assert await artifacts_env.packs() == ({full.full_text_uri} if is_used else set())
    assert artifacts_env.list_open_entries() == 0


async def test_it_is_counted_as_cleared_automatically_once_the_upload_is_safe(
    api: RunningApi, kb: KB, seed: Seed
) -> None:
    await a_failed_upload(api, seed, kb.id, kb.owner)
    labels = {"kb_id": str(kb.id), "user_id": str(kb.owner.id), "auto": "true"}

    assert (await kb.upload()).status_code == 201

    assert REGISTRY.get_sample_value("muniment_documents_cleared_total", labels) == 1
    assert (await kb.upload()).status_code == 409
    assert REGISTRY.get_sample_value("muniment_documents_cleared_total", labels) == 1


async def test_it_has_a_line_and_a_duration_like_any_other_clear(
    api: RunningApi, kb: KB, seed: Seed, capsys: pytest.CaptureFixture[str]
) -> None:
    failed = await a_failed_upload(api, seed, kb.id, kb.owner)
    labels = {"operation": "clear", "status": "pending"}
    name = "muniment_lifecycle_operation_duration_seconds_count"
    before = REGISTRY.get_sample_value(name, labels) or 0
    with capture_logs(capsys) as read:
        assert (await kb.upload()).status_code == 201
        [line] = [line for line in read() if line["event"] == "lifecycle.operation"]
    assert (line["operation"], line["status"], line["auto"]) == ("clear", "pending", True)
    assert (line["document_id"], line["kb_id"], line["user_id"]) == (str(failed), str(kb.id), str(kb.owner.id))
    assert line["duration_ms"] > 0
    assert REGISTRY.get_sample_value(name, labels) == before + 1


async def test_audit_names_the_system_and_the_uploader(api: RunningApi, kb: KB, seed: Seed) -> None:
    failed = await a_failed_upload(api, seed, kb.id, kb.owner)
    editor = seed.person(kb.owner.organization_id)
    seed.member(kb.id, editor, "editor")

    async with api.client(editor) as client:
        assert (await upload(client, kb.id)).status_code == 201

    [(actor, document_id, kb_id, payload)] = seed.rows(
        "SELECT actor, document_id, knowledge_base_id, payload FROM audit_events WHERE action = 'document_auto_cleared'"
    )
    assert (actor, document_id, kb_id) == ("system", failed, kb.id)
    assert payload == {
        "doc_id": str(failed),
        "kb_id": str(kb.id),
        "doc_name": "report.pdf",
        "reason": "duplicate_upload",
        "uploader": str(editor.id),
    }


async def test_several_failed_namesakes_all_make_way(api: RunningApi, kb: KB, seed: Seed) -> None:
    failed = {str(await a_failed_upload(api, seed, kb.id, kb.owner)) for _ in range(3)}

    body = (await kb.upload()).json()

    assert body["auto_cleared_document_id"] in failed
    assert seed.rows("SELECT id::text FROM documents") == [(body["id"],)]
    assert len(await stored_keys(api)) == 1
    cleared = seed.rows("SELECT document_id::text FROM audit_events WHERE action = 'document_auto_cleared'")
    assert {document_id for (document_id,) in cleared} == failed


@pytest.mark.parametrize(
    ("content", "fields", "status"),
    [
        (b"", {}, 422),
        (b"\x7fELF" + bytes(100), {}, 415),
        (a_pdf() + bytes(10_000), {}, 413),
        (a_pdf(), {"document_type": "unknown"}, 422),
    ],
    ids=["empty", "unknown type", "too large", "unknown document type"],
)
async def test_refused_upload_clears_nothing(
    settings: Settings, seed: Seed, content: bytes, fields: dict[str, str], status: int
) -> None:
    owner = seed.person()
    kb_id = seed.knowledge_base(owner)
    async with running_api(with_documents(settings, max_upload_bytes=10_000)) as api, api.client(owner) as client:
        failed = await a_failed_upload(api, seed, kb_id, owner)

        assert (await upload(client, kb_id, content, **fields)).status_code == status

        await assert_untouched(api, seed, kb_id, failed)


async def test_archived_namesake_keeps_a_failed_one_from_being_cleared(api: RunningApi, kb: KB, seed: Seed) -> None:
    seed.document(kb.id, kb.owner, name="report.pdf", status="archived")
    failed = await a_failed_upload(api, seed, kb.id, kb.owner)

    assert (await kb.upload()).status_code == 409

    await assert_untouched(api, seed, kb.id, failed)


async def assert_untouched(api: RunningApi, seed: Seed, kb_id: UUID, failed: UUID) -> None:
    assert seed.rows("SELECT id FROM documents WHERE status = 'failed'") == [(failed,)]
    assert await stored_keys(api) == [f"{kb_id}/{failed}/1/original"]
    assert seed.one("SELECT count(*) FROM audit_events") == 0
