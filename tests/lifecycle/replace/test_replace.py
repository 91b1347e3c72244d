"""`POST …/{doc_id}/replace` (docs/contracts.md#replace): any but processing → pending."""

from typing import Any
from uuid import UUID

import pytest

from muniment.lifecycle.observability import OperationStatus
from muniment.storage.db.base import new_id
from muniment.telemetry.metrics import REGISTRY
from tests.documents.uploads import a_pdf, upload
from tests.lifecycle.replace.harness import ReplaceHarness
from tests.lifecycle.test_observability import timed
from tests.support.log_lines import capture_logs

HANDED_OVER = {"archive_status": "archived", "archive_job_id": "job", "paperless_doc_url": "http://paperless/1"}
UNTOUCHED = """SELECT (SELECT jsonb_agg(to_jsonb(d)) FROM documents d),
                      (SELECT jsonb_agg(to_jsonb(r)) FROM document_revisions r),
                      (SELECT count(*) FROM uploads), (SELECT count(*) FROM audit_events),
                      (SELECT count(*) FROM document_processing_runs)"""


async def everything(replace_env: ReplaceHarness) -> tuple[Any, ...]:
    """Return all rows, except ledger entries that a refused upload may leave."""
    waiting = replace_env.worker_env.seed.one("SELECT count(*) FROM deletions WHERE done_at IS NULL")
    objects = sorted([info.key async for info in replace_env.stores.objects.list()])
    return (*replace_env.worker_env.seed.rows(UNTOUCHED), waiting, objects)


async def test_it_answers_as_the_specification_says(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    answer = await replace_env.replace(document_id, name="new_document.pdf")
    assert answer.status_code == 200
    assert answer.json() == {
        "id": str(document_id),
        "name": "new_document.pdf",
        "status": "pending",
        "message": "Document replaced and queued for processing",
    }


async def test_the_document_keeps_its_identity_and_shows_nothing_of_what_it_was(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    replace_env.worker_env.seed.execute(
        "UPDATE documents SET document_type = 'invoice', archive_status = %s, archive_job_id = %s,"
        " paperless_doc_url = %s, handed_over_at = now()",
        *HANDED_OVER.values(),
    )
    before = replace_env.row(document_id)
    content = a_pdf("Another report")
    await replace_env.replace(document_id, content)

    row = replace_env.row(document_id)
    kept = {"id", "created_at", "document_type", "knowledge_base_id", "organization_id", "completed_at", "index_epoch"}
    assert {name: row[name] for name in kept} == {name: before[name] for name in kept}
    assert (row["name"], row["name_key"], row["revision"], row["status"]) == ("new.pdf", "new.pdf", 2, "pending")
    assert row["file_size"] == len(content)
    assert row["content_hmac"] != before["content_hmac"]
    forgotten = {"archived_at", "artifact_text_id", "last_error", "processing_status", "processing_errors"}
    forgotten |= {"processing_started_at", "processing_completed_at", "total_pages", "total_word_count"}
    forgotten |= {"text_extraction_method", "handed_over_at", *HANDED_OVER}
    assert {name: row[name] for name in forgotten} == dict.fromkeys(forgotten)
    got = await replace_env.client.get(replace_env.path(document_id, "download"))
    assert got.content == content


async def test_the_old_bytes_and_pages_are_left_alone_and_the_new_run_is_queued(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    shown, (old,) = replace_env.shown(document_id), await replace_env.stored(document_id)
    await replace_env.replace(document_id)
    assert replace_env.shown(document_id) == shown
    assert (old in await replace_env.stored(document_id), len(await replace_env.stored(document_id))) == (True, 2)
    runs = "SELECT epoch, revision, purpose, status FROM document_processing_runs ORDER BY epoch"
    assert replace_env.worker_env.seed.rows(runs) == [(1, 1, "first", "completed"), (2, 2, "first", "queued")]
    assert replace_env.worker_env.seed.one("SELECT count(*) FROM deletions") == 0


async def test_it_is_on_record_with_both_names(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    await replace_env.replace(document_id)
    line = replace_env.worker_env.seed.audit_lines()[-1]
    assert (line["action"], line["actor"], line["document_id"]) == (
        "document_replaced",
        str(replace_env.worker_env.owner.id),
        document_id,
    )
    assert (
        line["payload"].items()
        >= {
            "doc_id": str(document_id),
            "kb_id": str(replace_env.worker_env.kb_id),
            "old_name": "old.pdf",
            "new_name": "new.pdf",
            "old_revision": 1,
            "new_revision": 2,
        }.items()
    )


@pytest.mark.parametrize("status", ["pending", "completed", "failed", "archived"])
async def test_from_every_status_but_one_it_leads_to_pending(replace_env: ReplaceHarness, status: str) -> None:
    document_id = replace_env.worker_env.seed.document(
        replace_env.worker_env.kb_id, replace_env.worker_env.owner, status=status
    )
    assert (await replace_env.replace(document_id)).json()["status"] == "pending"
    assert replace_env.row(document_id)["archived_at"] is None
    await replace_env.process(document_id)
    assert replace_env.worker_env.status(document_id) == "completed"


async def test_while_it_is_being_read_it_is_refused_before_the_first_byte(replace_env: ReplaceHarness) -> None:
    document_id = replace_env.worker_env.seed.document(
        replace_env.worker_env.kb_id, replace_env.worker_env.owner, status="processing"
    )
    before = await everything(replace_env)
    # The body is not a form: nothing has parsed it.
    answer = await replace_env.client.post(replace_env.path(document_id, "replace"), content=b"no form")
    assert answer.status_code == 400
    assert answer.json() == {"detail": "Cannot replace document while processing is in progress"}
    assert await everything(replace_env) == before


async def test_what_waits_is_not_read_any_more(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.worker_env.document(b"old bytes")
    waiting = replace_env.worker_env.job(document_id)
    await replace_env.replace(document_id)
    await replace_env.worker()(waiting)  # a worker that has already claimed it
    assert (replace_env.worker_env.status(document_id), replace_env.worker_env.reader.opened) == ("pending", 0)
    ended = "SELECT status, error->>'code' FROM document_processing_runs WHERE epoch = 1"
    assert replace_env.worker_env.seed.rows(ended) == [("failed", "superseded")]


async def test_a_reread_that_is_under_way_writes_nothing_any_more(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    await replace_env.post(document_id, "retry")
    reread = replace_env.worker_env.job(document_id)
    await replace_env.replace(document_id)
    before = replace_env.row(document_id), replace_env.shown(document_id)
    await replace_env.worker()(reread)
    assert (replace_env.row(document_id), replace_env.shown(document_id)) == before


@pytest.mark.parametrize("place", ["replace", "replace/revert"])
async def test_owner_and_admin_may_and_members_may_not_and_for_strangers_it_does_not_exist(
    replace_env: ReplaceHarness, place: str
) -> None:
    seed, organization_id = replace_env.worker_env.seed, replace_env.worker_env.owner.organization_id
    document_id = await replace_env.completed()
    if place == "replace/revert":
        await replace_env.failed_replacement(document_id)
    before = replace_env.row(document_id)
    people = {
        403: [seed.person(organization_id), seed.person(organization_id)],
        404: [seed.person(organization_id), seed.person(is_admin=True)],
        200: [seed.person(organization_id, is_admin=True)],
    }
    for person, role in zip(people[403], ("editor", "viewer"), strict=True):
        seed.member(replace_env.worker_env.kb_id, person, role)
    details = {403: {"detail": "Permission denied"}, 404: {"detail": "Document not found"}}
    for expected, some in people.items():
        for person in some:
            assert replace_env.row(document_id) == before
            files = {"file": ("new.pdf", a_pdf())} if place == "replace" else None
            answer = await replace_env.client.post(
                replace_env.path(document_id, place), files=files, headers=person.headers
            )
            assert answer.status_code == expected
            assert answer.json() == details.get(expected, answer.json())
    assert replace_env.row(document_id) != before


async def test_a_document_of_another_knowledge_base_is_not_found(replace_env: ReplaceHarness) -> None:
    other = replace_env.worker_env.seed.knowledge_base(replace_env.worker_env.owner, "Other")
    elsewhere = replace_env.worker_env.seed.document(other, replace_env.worker_env.owner)
    for document_id in (elsewhere, new_id()):
        for answer in (await replace_env.replace(document_id), await replace_env.revert(document_id)):
            assert (answer.status_code, answer.json()) == (404, {"detail": "Document not found"})


@pytest.mark.parametrize(
    ("content", "status"), [(b"", 422), (b"\x7fELF" + bytes(5000), 415), (b"%PDF-1.4" + bytes(300), 200)]
)
async def test_what_an_upload_would_not_take_leaves_the_document_as_it_was(
    replace_env: ReplaceHarness, content: bytes, status: int
) -> None:
    document_id = await replace_env.completed()
    before = await everything(replace_env)
    assert (await replace_env.replace(document_id, content)).status_code == status
    assert (await everything(replace_env) == before) is (status != 200)


@pytest.mark.parametrize(
    ("content", "status", "outcome"), [(b"", 422, "refused"), (b"%PDF-1.4" + bytes(300), 200, "success")]
)
async def test_each_replacement_has_one_line_also_if_its_file_is_not_taken(
    replace_env: ReplaceHarness, capsys: pytest.CaptureFixture[str], content: bytes, status: int, outcome: str
) -> None:
    document_id = await replace_env.completed()
    before = timed("replace", OperationStatus(outcome))
    with capture_logs(capsys) as read:
        assert (await replace_env.replace(document_id, content)).status_code == status
        [line] = [line for line in read() if line["event"] == "lifecycle.operation"]
    assert (line["operation"], line["document_id"], line["status"]) == ("replace", str(document_id), outcome)
    assert line["duration_ms"] > 0
    assert timed("replace", OperationStatus(outcome)) == before + 1


async def test_without_a_file_it_is_refused(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    before = await everything(replace_env)
    answer = await replace_env.client.post(
        replace_env.path(document_id, "replace"), files={"other": ("new.pdf", a_pdf())}
    )
    assert answer.status_code == 422
    assert await everything(replace_env) == before


@pytest.mark.parametrize("status", ["pending", "processing", "completed", "archived"])
async def test_a_name_that_another_document_has_is_refused(replace_env: ReplaceHarness, status: str) -> None:
    document_id = await replace_env.completed()
    owner = replace_env.worker_env.owner
    namesake = replace_env.worker_env.seed.document(replace_env.worker_env.kb_id, owner, name="NEW.pdf", status=status)
    before = await everything(replace_env)
    answer = await replace_env.replace(document_id)
    message = "An archived document with this name exists" if status == "archived" else None
    assert answer.status_code == 409
    assert answer.json() == {
        "error": "duplicate_document",
        "existing_document_id": str(namesake),
        "existing_status": status,
        "message": message or "A document with this name already exists",
    }
    assert await everything(replace_env) == before


@pytest.mark.parametrize("status", ["completed", "archived"])
async def test_a_document_is_not_in_the_way_of_its_own_name(replace_env: ReplaceHarness, status: str) -> None:
    document_id = await replace_env.completed(name="same.pdf")
    if status == "archived":
        await replace_env.post(document_id, "archive")
    for name in ("same.pdf", "SAME.pdf"):
        answer = await replace_env.replace(document_id, name=name)
        assert (answer.status_code, answer.json()["name"]) == (200, name)


async def test_a_failed_document_of_the_same_name_that_never_completed_is_cleared(replace_env: ReplaceHarness) -> None:
    document_id, owner = await replace_env.completed(), replace_env.worker_env.owner
    failed = replace_env.worker_env.seed.document(replace_env.worker_env.kb_id, owner, name="new.pdf", status="failed")
    key = f"{replace_env.worker_env.kb_id}/{failed}/1/original"
    await replace_env.stores.objects.put(key, b"what could not be read")
    assert (await replace_env.replace(document_id)).status_code == 200
    assert replace_env.worker_env.seed.rows("SELECT id FROM documents") == [(document_id,)]
    assert await replace_env.stored(failed) == []
    lines = {line["action"]: line for line in replace_env.worker_env.seed.audit_lines()}
    assert lines["document_auto_cleared"]["actor"] == "system"
    assert lines["document_auto_cleared"]["payload"]["uploader"] == str(owner.id)
    labels = {"kb_id": str(replace_env.worker_env.kb_id), "user_id": str(owner.id), "auto": "true"}
    assert REGISTRY.get_sample_value("muniment_documents_cleared_total", labels) == 1


async def test_a_failed_document_of_the_same_name_that_once_completed_is_an_obstacle(
    replace_env: ReplaceHarness,
) -> None:
    document_id = await replace_env.completed(name="first.pdf")
    await replace_env.failed_replacement(document_id, "new.pdf")
    answer = await replace_env.replace(await replace_env.completed(name="second.pdf", content=b"second"))
    assert (answer.status_code, answer.json()["existing_status"]) == (409, "failed")


async def test_an_upload_does_not_clear_a_failed_replacement_away(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    await replace_env.failed_replacement(document_id)
    answer = await upload(replace_env.client, replace_env.worker_env.kb_id, name="new.pdf")
    assert answer.status_code == 409
    assert answer.json()["existing_document_id"] == str(document_id)


TWINS = [("Straße.pdf", "STRASSE.PDF"), ("Caf\u00e9.pdf", "Cafe\u0301.pdf"), ("\u0130.pdf", "i\u0307.pdf")]


@pytest.mark.parametrize(("name", "twin"), TWINS)
async def test_names_that_look_the_same_are_the_same(replace_env: ReplaceHarness, name: str, twin: str) -> None:
    namesake = await replace_env.completed(name=name)
    failed = replace_env.worker_env.seed.document(
        replace_env.worker_env.kb_id, replace_env.worker_env.owner, name=twin, status="failed"
    )
    document_id = await replace_env.completed(name="second.pdf", content=b"second")
    answers = [
        await upload(replace_env.client, replace_env.worker_env.kb_id, name=twin),
        await replace_env.replace(document_id, name=twin),
        await replace_env.post(failed, "retry"),
    ]
    for answer in answers:
        assert answer.status_code == 409, answer.text
        assert answer.json()["existing_document_id"] == str(namesake)


@pytest.mark.parametrize(("name", "twin"), TWINS)
async def test_a_failed_upload_whose_name_looks_the_same_is_cleared(
    replace_env: ReplaceHarness, name: str, twin: str
) -> None:
    document_id = await replace_env.completed()
    replace_env.worker_env.seed.document(
        replace_env.worker_env.kb_id, replace_env.worker_env.owner, name=name, status="failed"
    )
    assert (await replace_env.replace(document_id, name=twin)).status_code == 200
    assert replace_env.worker_env.seed.rows("SELECT id, name FROM documents") == [(document_id, twin)]


async def test_no_number_of_a_revision_comes_twice(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    tags: list[tuple[UUID, str]] = []
    for turn in range(3):
        await replace_env.failed_replacement(document_id, f"{turn}.pdf")
        tags.append(
            (document_id, (await replace_env.client.get(replace_env.path(document_id, "download"))).headers["etag"])
        )
        await replace_env.revert(document_id)
    assert len(set(tags)) == 3
