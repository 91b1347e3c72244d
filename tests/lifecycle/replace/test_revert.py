"""`POST …/{doc_id}/replace/revert`: a replacement that could not be read makes way for what was there before."""

from typing import Any
from uuid import UUID

import pytest

from muniment.settings import Settings
from muniment.storage.objects.folder.store import FolderObjectStore
from tests.documents.uploads import a_pdf, upload
from tests.lifecycle.replace.harness import NEW_PAGES, NEW_TEXT, ReplaceHarness
from tests.lifecycle.replace.test_completion import NOTES
from tests.lifecycle.test_explain import explain, moves_of

HANDED_OVER = """UPDATE documents SET archive_status = 'archived', archive_job_id = 'job',
                        paperless_doc_url = 'http://paperless/1', handed_over_at = now()"""


@pytest.mark.parametrize("status", ["completed", "archived"])
async def test_everything_is_again_as_it_was(bench: ReplaceHarness, status: str) -> None:
    document_id = await bench.completed()
    bench.desk.seed.execute(NOTES, document_id)
    bench.desk.seed.execute(HANDED_OVER)
    if status == "archived":
        await bench.post(document_id, "archive")
    before = bench.row(document_id), bench.shown(document_id), await bench.stored(document_id)
    await bench.failed_replacement(document_id)

    answer = await bench.revert(document_id)
    assert answer.status_code == 200, answer.text
    assert (answer.json()["status"], answer.json()["name"], answer.json()["revision"]) == (status, "old.pdf", 1)
    assert (bench.row(document_id), bench.shown(document_id), await bench.stored(document_id)) == before
    assert bench.revisions(document_id) == [1]
    pages = await bench.client.get(bench.path(document_id, "pages"))
    assert pages.json()["total"] == 2


async def test_it_is_on_record_and_ends_every_older_worker(bench: ReplaceHarness) -> None:
    document_id = await bench.completed()
    await bench.failed_replacement(document_id)
    epoch = bench.desk.seed.one("SELECT epoch FROM documents")
    await bench.revert(document_id)
    assert bench.desk.seed.one("SELECT epoch FROM documents") == epoch + 1
    line = bench.desk.seed.audit_lines()[-1]
    assert (line["action"], line["actor"]) == ("document_reverted", str(bench.desk.owner.id))
    expected = {"old_name": "new.pdf", "new_name": "old.pdf", "old_revision": 2, "new_revision": 1}
    assert line["payload"].items() >= expected.items()


@pytest.mark.parametrize("status", ["pending", "processing", "completed", "archived"])
async def test_only_a_failed_replacement_can_be_reverted(bench: ReplaceHarness, status: str) -> None:
    document_id = await bench.completed()
    await bench.failed_replacement(document_id)
    bench.desk.seed.execute("UPDATE documents SET status = %s", status)
    answer = await bench.revert(document_id)
    assert (answer.status_code, answer.json()) == (400, {"detail": "Only a failed replacement can be reverted"})


async def test_what_was_never_complete_has_nothing_to_go_back_to(bench: ReplaceHarness) -> None:
    document_id = await bench.desk.document(b"bytes")
    await bench.fail(document_id)
    details = {"detail": "There is no previous version to revert to"}
    assert (await bench.revert(document_id)).json() == details
    await bench.failed_replacement(document_id)
    answer = await bench.revert(document_id)
    assert (answer.status_code, answer.json()) == (400, details)


async def test_a_name_that_was_taken_meanwhile_keeps_the_replacement(bench: ReplaceHarness) -> None:
    document_id = await bench.completed()
    await bench.failed_replacement(document_id)
    namesake = (await upload(bench.client, bench.desk.kb_id, name="OLD.pdf")).json()["id"]
    before = bench.row(document_id)
    answer = await bench.revert(document_id)
    assert (answer.status_code, answer.json()["existing_document_id"]) == (409, namesake)
    assert answer.json()["error"] == "duplicate_document"
    assert (bench.row(document_id), len(await bench.stored(document_id))) == (before, 2)


@pytest.mark.parametrize("status", ["completed", "archived"])
async def test_an_archived_namesake_is_in_the_way_too(bench: ReplaceHarness, status: str) -> None:
    document_id = await bench.completed()
    if status == "archived":
        await bench.post(document_id, "archive")
    await bench.failed_replacement(document_id)
    namesake = bench.desk.seed.document(bench.desk.kb_id, bench.desk.owner, name="old.pdf", status="archived")
    answer = await bench.revert(document_id)
    assert (answer.status_code, answer.json()["existing_document_id"]) == (409, str(namesake))


async def test_a_failed_namesake_that_never_completed_is_left_alone(bench: ReplaceHarness) -> None:
    document_id = await bench.completed()
    await bench.failed_replacement(document_id)
    failed = bench.desk.seed.document(bench.desk.kb_id, bench.desk.owner, name="old.pdf", status="failed")
    assert (await bench.revert(document_id)).status_code == 200
    assert bench.desk.status(failed) == "failed"


async def test_after_several_that_failed_the_last_readable_one_comes_back(bench: ReplaceHarness) -> None:
    document_id = await bench.completed()
    before = bench.row(document_id)
    await bench.failed_replacement(document_id, "a.pdf")
    await bench.failed_replacement(document_id, "b.pdf")
    await bench.replace(document_id, a_pdf("c"), "c.pdf")  # not even begun
    await bench.failed_replacement(document_id, "d.pdf")
    assert (await bench.revert(document_id)).status_code == 200
    assert (bench.row(document_id), bench.revisions(document_id)) == (before, [1])
    assert len(await bench.stored(document_id)) == 1


async def test_of_one_that_was_complete_it_is_that_one_and_not_the_first(bench: ReplaceHarness) -> None:
    document_id = await bench.completed()
    bench.desk.reader.pages = NEW_PAGES
    await bench.replace(document_id, name="second.pdf")
    await bench.process(document_id)
    await bench.failed_replacement(document_id, "third.pdf")
    assert (await bench.revert(document_id)).json()["name"] == "second.pdf"
    assert bench.desk.seed.one("SELECT count(*) FROM document_pages") == 1


async def test_a_replacement_that_was_cancelled_can_be_reverted(bench: ReplaceHarness) -> None:
    document_id = await bench.completed()
    before = bench.row(document_id), bench.shown(document_id)
    await bench.replace(document_id)
    run = bench.desk.job(document_id)
    assert (await bench.post(document_id, "cancel")).status_code == 200
    assert (await bench.revert(document_id)).status_code == 200
    await bench.worker()(run)  # too late
    assert (bench.row(document_id), bench.shown(document_id)) == before


async def test_what_was_read_of_the_failed_bytes_leaves_with_them(bench: ReplaceHarness) -> None:
    document_id = await bench.completed()
    await bench.replace(document_id)
    bench.desk.reader.pages = NEW_PAGES
    await bench.fail_late(document_id)
    assert bench.desk.seed.one("SELECT count(*) FROM artifacts_full_text") == 2
    await bench.revert(document_id)
    assert bench.desk.seed.one("SELECT count(*) FROM artifacts_full_text") == 1
    assert bench.desk.seed.one("SELECT count(*) FROM deletions WHERE done_at IS NULL AND reason <> 'never_kept'") == 0
    assert len([info async for info in bench.stores.objects.list("artifacts/")]) == 1


async def test_the_same_bytes_as_before_are_not_taken_from_the_revision_that_comes_back(bench: ReplaceHarness) -> None:
    content = a_pdf("the same")
    document_id = await bench.completed(content=content)
    await bench.replace(document_id, content)
    await bench.post(document_id, "cancel")
    await bench.revert(document_id)
    text = await bench.client.get(bench.path(document_id, "text"))
    assert (text.status_code, "invoices" in text.text) == (200, True)


class Sweeping(FolderObjectStore):
    """Between a text that is written and the row that keeps it, the ledger is carried out once more."""

    bench: ReplaceHarness

    async def put(self, key: str, data: bytes) -> None:
        await super().put(key, data)
        again = "UPDATE deletions SET done_at = NULL, outcome = NULL, next_attempt_at = now()"
        self.bench.desk.seed.execute(f"{again} WHERE reason = 'reverted'")
        await self.bench.sweep()


async def test_a_late_clearing_up_does_not_take_what_the_next_replacement_is_about_to_keep(
    bench: ReplaceHarness, settings: Settings
) -> None:
    document_id = await bench.completed()
    await bench.failed_replacement(document_id)
    await bench.revert(document_id)
    await bench.replace(document_id, a_pdf("once more"))
    bench.desk.objects = sweeping = Sweeping(settings.server.data_dir / "blobs")
    sweeping.bench = bench
    bench.desk.reader.pages = NEW_PAGES
    await bench.process(document_id)
    text = await bench.client.get(bench.path(document_id, "text"))
    assert (text.status_code, text.text) == (200, f"{NEW_TEXT}\f")


async def test_retry_and_clear_of_a_failed_replacement_work_as_of_any_other(bench: ReplaceHarness) -> None:
    document_id = await bench.completed()
    await bench.failed_replacement(document_id)
    assert (await bench.post(document_id, "retry")).json()["status"] == "pending"
    await bench.fail(document_id)
    answer = await bench.client.delete(bench.path(document_id, "clear"))
    assert answer.status_code in (200, 202), answer.text
    await bench.sweep()
    assert await bench.stored(document_id) == []
    assert bench.desk.seed.one("SELECT count(*) FROM document_revisions") == 0
    assert bench.desk.seed.one("SELECT count(*) FROM artifacts_full_text") == 0


async def test_a_model_that_was_changed_meanwhile_is_made_up_for(bench: ReplaceHarness) -> None:
    document_id = await bench.completed()
    await bench.failed_replacement(document_id)
    bench.desk.seed.execute("UPDATE indexing_variants SET is_active = false")
    bench.desk.seed.insert("indexing_variants", fingerprint="newer", model="newer", dimensions=3, is_active=True)
    assert (await bench.revert(document_id)).json()["status"] == "completed"
    last = "SELECT purpose, force, revision FROM document_processing_runs ORDER BY epoch DESC LIMIT 1"
    assert bench.desk.seed.rows(last) == [("reread", True, 1)]


async def judged_revert(bench: ReplaceHarness, document_id: UUID) -> dict[str, Any]:
    explained = await explain(bench.client, bench.desk, document_id)
    return moves_of(explained)["revert"]


@pytest.mark.parametrize("status", ["completed", "archived"])
async def test_what_is_explained_of_a_name_that_was_taken_is_what_a_revert_answers(
    bench: ReplaceHarness, status: str
) -> None:
    document_id = await bench.completed()
    await bench.failed_replacement(document_id)
    namesake = bench.desk.seed.document(bench.desk.kb_id, bench.desk.owner, name="OLD.pdf", status=status)
    judged, answer = await judged_revert(bench, document_id), await bench.revert(document_id)
    assert answer.status_code == 409
    assert (judged["allowed"], judged["reason"]) == (False, answer.json()["message"])
    assert judged["blocked_by"] == answer.json()["existing_document_id"] == str(namesake)


async def test_a_name_that_the_document_leaves_behind_is_in_nobodys_way(bench: ReplaceHarness) -> None:
    document_id = await bench.completed()
    await bench.failed_replacement(document_id)
    bench.desk.seed.document(bench.desk.kb_id, bench.desk.owner, name="new.pdf")
    assert (await judged_revert(bench, document_id))["allowed"]
    assert (await bench.revert(document_id)).status_code == 200


async def test_a_knowledge_base_that_is_being_deleted_is_in_the_way_of_a_revert(bench: ReplaceHarness) -> None:
    document_id = await bench.completed()
    await bench.failed_replacement(document_id)
    bench.desk.seed.execute("UPDATE knowledge_bases SET leaving_since = now()")
    judged, answer = await judged_revert(bench, document_id), await bench.revert(document_id)
    assert answer.status_code == 409
    assert (judged["allowed"], {"detail": judged["reason"]}) == (False, answer.json())
