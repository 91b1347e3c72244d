"""`POST …/{doc_id}/replace` (docs/contracts.md#replace): any but processing → pending."""

from typing import Any
from uuid import UUID

import pytest

from muniment.storage.db.base import new_id
from muniment.telemetry.metrics import REGISTRY
from tests.documents.uploads import a_pdf, upload
from tests.lifecycle.replace.harness import ReplaceHarness

HANDED_OVER = {"archive_status": "archived", "archive_job_id": "job", "paperless_doc_url": "http://paperless/1"}
UNTOUCHED = """SELECT (SELECT jsonb_agg(to_jsonb(d)) FROM documents d),
                      (SELECT jsonb_agg(to_jsonb(r)) FROM document_revisions r),
                      (SELECT count(*) FROM uploads), (SELECT count(*) FROM audit_events),
                      (SELECT count(*) FROM document_processing_runs)"""


async def everything(bench: ReplaceHarness) -> tuple[Any, ...]:
    """But for what a refused upload may leave in the ledger when it is done."""
    waiting = bench.desk.seed.one("SELECT count(*) FROM deletions WHERE done_at IS NULL")
    objects = sorted([info.key async for info in bench.stores.objects.list()])
    return (*bench.desk.seed.rows(UNTOUCHED), waiting, objects)


async def test_it_answers_as_the_specification_says(bench: ReplaceHarness) -> None:
    document_id = await bench.completed()
    answer = await bench.replace(document_id, name="new_document.pdf")
    assert answer.status_code == 200
    assert answer.json() == {
        "id": str(document_id),
        "name": "new_document.pdf",
        "status": "pending",
        "message": "Document replaced and queued for processing",
    }


async def test_the_document_keeps_its_identity_and_shows_nothing_of_what_it_was(bench: ReplaceHarness) -> None:
    document_id = await bench.completed()
    bench.desk.seed.execute(
        "UPDATE documents SET document_type = 'invoice', archive_status = %s, archive_job_id = %s,"
        " paperless_doc_url = %s, handed_over_at = now()",
        *HANDED_OVER.values(),
    )
    before = bench.row(document_id)
    content = a_pdf("Another report")
    await bench.replace(document_id, content)

    row = bench.row(document_id)
    kept = {"id", "created_at", "document_type", "knowledge_base_id", "organization_id", "completed_at", "index_epoch"}
    assert {name: row[name] for name in kept} == {name: before[name] for name in kept}
    assert (row["name"], row["name_key"], row["revision"], row["status"]) == ("new.pdf", "new.pdf", 2, "pending")
    assert row["file_size"] == len(content)
    assert row["content_hmac"] != before["content_hmac"]
    forgotten = {"archived_at", "artifact_text_id", "last_error", "processing_status", "processing_errors"}
    forgotten |= {"processing_started_at", "processing_completed_at", "total_pages", "total_word_count"}
    forgotten |= {"text_extraction_method", "handed_over_at", *HANDED_OVER}
    assert {name: row[name] for name in forgotten} == dict.fromkeys(forgotten)
    got = await bench.client.get(bench.path(document_id, "download"))
    assert got.content == content


async def test_the_old_bytes_and_pages_are_left_alone_and_the_new_run_is_queued(bench: ReplaceHarness) -> None:
    document_id = await bench.completed()
    shown, (old,) = bench.shown(document_id), await bench.stored(document_id)
    await bench.replace(document_id)
    assert bench.shown(document_id) == shown
    assert (old in await bench.stored(document_id), len(await bench.stored(document_id))) == (True, 2)
    runs = "SELECT epoch, revision, purpose, status FROM document_processing_runs ORDER BY epoch"
    assert bench.desk.seed.rows(runs) == [(1, 1, "first", "completed"), (2, 2, "first", "queued")]
    assert bench.desk.seed.one("SELECT count(*) FROM deletions") == 0


async def test_it_is_on_record_with_both_names(bench: ReplaceHarness) -> None:
    document_id = await bench.completed()
    await bench.replace(document_id)
    line = bench.desk.seed.audit_lines()[-1]
    assert (line["action"], line["actor"], line["document_id"]) == (
        "document_replaced",
        str(bench.desk.owner.id),
        document_id,
    )
    assert (
        line["payload"].items()
        >= {
            "doc_id": str(document_id),
            "kb_id": str(bench.desk.kb_id),
            "old_name": "old.pdf",
            "new_name": "new.pdf",
            "old_revision": 1,
            "new_revision": 2,
        }.items()
    )


@pytest.mark.parametrize("status", ["pending", "completed", "failed", "archived"])
async def test_from_every_status_but_one_it_leads_to_pending(bench: ReplaceHarness, status: str) -> None:
    document_id = bench.desk.seed.document(bench.desk.kb_id, bench.desk.owner, status=status)
    assert (await bench.replace(document_id)).json()["status"] == "pending"
    assert bench.row(document_id)["archived_at"] is None
    await bench.process(document_id)
    assert bench.desk.status(document_id) == "completed"


async def test_while_it_is_being_read_it_is_refused_before_the_first_byte(bench: ReplaceHarness) -> None:
    document_id = bench.desk.seed.document(bench.desk.kb_id, bench.desk.owner, status="processing")
    before = await everything(bench)
    # A body that is no form at all: nobody has looked at it.
    answer = await bench.client.post(bench.path(document_id, "replace"), content=b"no form")
    assert answer.status_code == 400
    assert answer.json() == {"detail": "Cannot replace document while processing is in progress"}
    assert await everything(bench) == before


async def test_what_waits_is_not_read_any_more(bench: ReplaceHarness) -> None:
    document_id = await bench.desk.document(b"old bytes")
    waiting = bench.desk.job(document_id)
    await bench.replace(document_id)
    await bench.worker()(waiting)  # a worker that had taken it already
    assert (bench.desk.status(document_id), bench.desk.reader.opened) == ("pending", 0)
    ended = "SELECT status, error->>'code' FROM document_processing_runs WHERE epoch = 1"
    assert bench.desk.seed.rows(ended) == [("failed", "superseded")]


async def test_a_reread_that_is_under_way_writes_nothing_any_more(bench: ReplaceHarness) -> None:
    document_id = await bench.completed()
    await bench.post(document_id, "retry")
    reread = bench.desk.job(document_id)
    await bench.replace(document_id)
    before = bench.row(document_id), bench.shown(document_id)
    await bench.worker()(reread)
    assert (bench.row(document_id), bench.shown(document_id)) == before


@pytest.mark.parametrize("place", ["replace", "replace/revert"])
async def test_owner_and_admin_may_and_members_may_not_and_for_strangers_it_does_not_exist(
    bench: ReplaceHarness, place: str
) -> None:
    seed, organization_id = bench.desk.seed, bench.desk.owner.organization_id
    document_id = await bench.completed()
    if place == "replace/revert":
        await bench.failed_replacement(document_id)
    before = bench.row(document_id)
    people = {
        403: [seed.person(organization_id), seed.person(organization_id)],
        404: [seed.person(organization_id), seed.person(is_admin=True)],
        200: [seed.person(organization_id, is_admin=True)],
    }
    for person, role in zip(people[403], ("editor", "viewer"), strict=True):
        seed.member(bench.desk.kb_id, person, role)
    details = {403: {"detail": "Permission denied"}, 404: {"detail": "Document not found"}}
    for expected, some in people.items():
        for person in some:
            assert bench.row(document_id) == before
            files = {"file": ("new.pdf", a_pdf())} if place == "replace" else None
            answer = await bench.client.post(bench.path(document_id, place), files=files, headers=person.headers)
            assert answer.status_code == expected
            assert answer.json() == details.get(expected, answer.json())
    assert bench.row(document_id) != before


async def test_a_document_of_another_knowledge_base_is_not_found(bench: ReplaceHarness) -> None:
    other = bench.desk.seed.knowledge_base(bench.desk.owner, "Other")
    elsewhere = bench.desk.seed.document(other, bench.desk.owner)
    for document_id in (elsewhere, new_id()):
        for answer in (await bench.replace(document_id), await bench.revert(document_id)):
            assert (answer.status_code, answer.json()) == (404, {"detail": "Document not found"})


@pytest.mark.parametrize(
    ("content", "status"), [(b"", 422), (b"\x7fELF" + bytes(5000), 415), (b"%PDF-1.4" + bytes(300), 200)]
)
async def test_what_an_upload_would_not_take_leaves_the_document_as_it_was(
    bench: ReplaceHarness, content: bytes, status: int
) -> None:
    document_id = await bench.completed()
    before = await everything(bench)
    assert (await bench.replace(document_id, content)).status_code == status
    assert (await everything(bench) == before) is (status != 200)


async def test_without_a_file_it_is_refused(bench: ReplaceHarness) -> None:
    document_id = await bench.completed()
    before = await everything(bench)
    answer = await bench.client.post(bench.path(document_id, "replace"), files={"other": ("new.pdf", a_pdf())})
    assert answer.status_code == 422
    assert await everything(bench) == before


@pytest.mark.parametrize("status", ["pending", "processing", "completed", "archived"])
async def test_a_name_that_another_document_has_is_refused(bench: ReplaceHarness, status: str) -> None:
    document_id = await bench.completed()
    owner = bench.desk.owner
    namesake = bench.desk.seed.document(bench.desk.kb_id, owner, name="NEW.pdf", status=status)
    before = await everything(bench)
    answer = await bench.replace(document_id)
    message = "An archived document with this name exists" if status == "archived" else None
    assert answer.status_code == 409
    assert answer.json() == {
        "error": "duplicate_document",
        "existing_document_id": str(namesake),
        "existing_status": status,
        "message": message or "A document with this name already exists",
    }
    assert await everything(bench) == before


@pytest.mark.parametrize("status", ["completed", "archived"])
async def test_a_document_is_not_in_the_way_of_its_own_name(bench: ReplaceHarness, status: str) -> None:
    document_id = await bench.completed(name="same.pdf")
    if status == "archived":
        await bench.post(document_id, "archive")
    for name in ("same.pdf", "SAME.pdf"):
        answer = await bench.replace(document_id, name=name)
        assert (answer.status_code, answer.json()["name"]) == (200, name)


async def test_a_failed_namesake_that_never_completed_makes_way(bench: ReplaceHarness) -> None:
    document_id, owner = await bench.completed(), bench.desk.owner
    failed = bench.desk.seed.document(bench.desk.kb_id, owner, name="new.pdf", status="failed")
    key = f"{bench.desk.kb_id}/{failed}/1/original"
    await bench.stores.objects.put(key, b"what could not be read")
    assert (await bench.replace(document_id)).status_code == 200
    assert bench.desk.seed.rows("SELECT id FROM documents") == [(document_id,)]
    assert await bench.stored(failed) == []
    lines = {line["action"]: line for line in bench.desk.seed.audit_lines()}
    assert lines["document_auto_cleared"]["actor"] == "system"
    assert lines["document_auto_cleared"]["payload"]["uploader"] == str(owner.id)
    labels = {"kb_id": str(bench.desk.kb_id), "user_id": str(owner.id), "auto": "true"}
    assert REGISTRY.get_sample_value("muniment_documents_cleared_total", labels) == 1


async def test_a_failed_namesake_that_once_completed_is_in_the_way(bench: ReplaceHarness) -> None:
    document_id = await bench.completed(name="first.pdf")
    await bench.failed_replacement(document_id, "new.pdf")
    answer = await bench.replace(await bench.completed(name="second.pdf", content=b"second"))
    assert (answer.status_code, answer.json()["existing_status"]) == (409, "failed")


async def test_an_upload_does_not_clear_a_failed_replacement_away(bench: ReplaceHarness) -> None:
    document_id = await bench.completed()
    await bench.failed_replacement(document_id)
    answer = await upload(bench.client, bench.desk.kb_id, name="new.pdf")
    assert answer.status_code == 409
    assert answer.json()["existing_document_id"] == str(document_id)


TWINS = [("Straße.pdf", "STRASSE.PDF"), ("Caf\u00e9.pdf", "Cafe\u0301.pdf"), ("\u0130.pdf", "i\u0307.pdf")]


@pytest.mark.parametrize(("name", "twin"), TWINS)
async def test_names_that_look_the_same_are_the_same(bench: ReplaceHarness, name: str, twin: str) -> None:
    namesake = await bench.completed(name=name)
    failed = bench.desk.seed.document(bench.desk.kb_id, bench.desk.owner, name=twin, status="failed")
    document_id = await bench.completed(name="second.pdf", content=b"second")
    answers = [
        await upload(bench.client, bench.desk.kb_id, name=twin),
        await bench.replace(document_id, name=twin),
        await bench.post(failed, "retry"),
    ]
    for answer in answers:
        assert answer.status_code == 409, answer.text
        assert answer.json()["existing_document_id"] == str(namesake)


@pytest.mark.parametrize(("name", "twin"), TWINS)
async def test_a_failed_upload_whose_name_looks_the_same_makes_way(bench: ReplaceHarness, name: str, twin: str) -> None:
    document_id = await bench.completed()
    bench.desk.seed.document(bench.desk.kb_id, bench.desk.owner, name=name, status="failed")
    assert (await bench.replace(document_id, name=twin)).status_code == 200
    assert bench.desk.seed.rows("SELECT id, name FROM documents") == [(document_id, twin)]


async def test_no_number_of_a_revision_comes_twice(bench: ReplaceHarness) -> None:
    document_id = await bench.completed()
    tags: list[tuple[UUID, str]] = []
    for turn in range(3):
        await bench.failed_replacement(document_id, f"{turn}.pdf")
        tags.append((document_id, (await bench.client.get(bench.path(document_id, "download"))).headers["etag"]))
        await bench.revert(document_id)
    assert len(set(tags)) == 3
