"""`POST …/{doc_id}/replace/revert`: a failed replacement is reverted to the previous revision."""

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
async def test_everything_is_again_as_it_was(replace_env: ReplaceHarness, status: str) -> None:
    document_id = await replace_env.completed()
    replace_env.worker_env.seed.execute(NOTES, document_id)
    replace_env.worker_env.seed.execute(HANDED_OVER)
    if status == "archived":
        await replace_env.post(document_id, "archive")
    before = replace_env.row(document_id), replace_env.shown(document_id), await replace_env.stored(document_id)
    await replace_env.failed_replacement(document_id)

    answer = await replace_env.revert(document_id)
    assert answer.status_code == 200, answer.text
    assert (answer.json()["status"], answer.json()["name"], answer.json()["revision"]) == (status, "old.pdf", 1)
    assert (
        replace_env.row(document_id),
        replace_env.shown(document_id),
        await replace_env.stored(document_id),
    ) == before
    assert replace_env.revisions(document_id) == [1]
    pages = await replace_env.client.get(replace_env.path(document_id, "pages"))
    assert pages.json()["total"] == 2


async def test_it_is_on_record_and_ends_every_older_worker(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    await replace_env.failed_replacement(document_id)
    epoch = replace_env.worker_env.seed.one("SELECT epoch FROM documents")
    await replace_env.revert(document_id)
    assert replace_env.worker_env.seed.one("SELECT epoch FROM documents") == epoch + 1
    line = replace_env.worker_env.seed.audit_lines()[-1]
    assert (line["action"], line["actor"]) == ("document_reverted", str(replace_env.worker_env.owner.id))
    expected = {"old_name": "new.pdf", "new_name": "old.pdf", "old_revision": 2, "new_revision": 1}
    assert line["payload"].items() >= expected.items()


@pytest.mark.parametrize("status", ["pending", "processing", "completed", "archived"])
async def test_only_a_failed_replacement_can_be_reverted(replace_env: ReplaceHarness, status: str) -> None:
    document_id = await replace_env.completed()
    await replace_env.failed_replacement(document_id)
    replace_env.worker_env.seed.execute("UPDATE documents SET status = %s", status)
    answer = await replace_env.revert(document_id)
    assert (answer.status_code, answer.json()) == (400, {"detail": "Only a failed replacement can be reverted"})


async def test_what_was_never_complete_has_nothing_to_go_back_to(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.worker_env.document(b"bytes")
    await replace_env.fail(document_id)
    details = {"detail": "There is no previous version to revert to"}
    assert (await replace_env.revert(document_id)).json() == details
    await replace_env.failed_replacement(document_id)
    answer = await replace_env.revert(document_id)
    assert (answer.status_code, answer.json()) == (400, details)


async def test_a_name_that_was_taken_meanwhile_keeps_the_replacement(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    await replace_env.failed_replacement(document_id)
    namesake = (await upload(replace_env.client, replace_env.worker_env.kb_id, name="OLD.pdf")).json()["id"]
    before = replace_env.row(document_id)
    answer = await replace_env.revert(document_id)
    assert (answer.status_code, answer.json()["existing_document_id"]) == (409, namesake)
    assert answer.json()["error"] == "duplicate_document"
    assert (replace_env.row(document_id), len(await replace_env.stored(document_id))) == (before, 2)


@pytest.mark.parametrize("status", ["completed", "archived"])
async def test_an_archived_document_of_the_same_name_is_an_obstacle_too(
    replace_env: ReplaceHarness, status: str
) -> None:
    document_id = await replace_env.completed()
    if status == "archived":
        await replace_env.post(document_id, "archive")
    await replace_env.failed_replacement(document_id)
    namesake = replace_env.worker_env.seed.document(
        replace_env.worker_env.kb_id, replace_env.worker_env.owner, name="old.pdf", status="archived"
    )
    answer = await replace_env.revert(document_id)
    assert (answer.status_code, answer.json()["existing_document_id"]) == (409, str(namesake))


async def test_a_failed_namesake_that_never_completed_is_left_alone(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    await replace_env.failed_replacement(document_id)
    failed = replace_env.worker_env.seed.document(
        replace_env.worker_env.kb_id, replace_env.worker_env.owner, name="old.pdf", status="failed"
    )
    assert (await replace_env.revert(document_id)).status_code == 200
    assert replace_env.worker_env.status(failed) == "failed"


async def test_after_several_that_failed_the_last_readable_one_comes_back(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    before = replace_env.row(document_id)
    await replace_env.failed_replacement(document_id, "a.pdf")
    await replace_env.failed_replacement(document_id, "b.pdf")
    await replace_env.replace(document_id, a_pdf("c"), "c.pdf")  # not even started
    await replace_env.failed_replacement(document_id, "d.pdf")
    assert (await replace_env.revert(document_id)).status_code == 200
    assert (replace_env.row(document_id), replace_env.revisions(document_id)) == (before, [1])
    assert len(await replace_env.stored(document_id)) == 1


async def test_of_one_that_was_complete_it_is_that_one_and_not_the_first(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    replace_env.worker_env.reader.pages = NEW_PAGES
    await replace_env.replace(document_id, name="second.pdf")
    await replace_env.process(document_id)
    await replace_env.failed_replacement(document_id, "third.pdf")
    assert (await replace_env.revert(document_id)).json()["name"] == "second.pdf"
    assert replace_env.worker_env.seed.one("SELECT count(*) FROM document_pages") == 1


async def test_a_replacement_that_was_cancelled_can_be_reverted(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    before = replace_env.row(document_id), replace_env.shown(document_id)
    await replace_env.replace(document_id)
    run = replace_env.worker_env.job(document_id)
    assert (await replace_env.post(document_id, "cancel")).status_code == 200
    assert (await replace_env.revert(document_id)).status_code == 200
    await replace_env.worker()(run)  # too late
    assert (replace_env.row(document_id), replace_env.shown(document_id)) == before


async def test_what_was_read_of_the_failed_bytes_leaves_before_them(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    await replace_env.replace(document_id)
    replace_env.worker_env.reader.pages = NEW_PAGES
    await replace_env.fail_late(document_id)
    assert replace_env.worker_env.seed.one("SELECT count(*) FROM artifacts_full_text") == 1
    await replace_env.revert(document_id)
    assert replace_env.worker_env.seed.one("SELECT count(*) FROM artifacts_full_text") == 1
    assert (
        replace_env.worker_env.seed.one(
            "SELECT count(*) FROM deletions WHERE done_at IS NULL AND reason <> 'never_kept'"
        )
        == 0
    )
    assert len([info async for info in replace_env.stores.objects.list("artifacts/")]) == 1


async def test_the_same_bytes_as_before_are_not_taken_from_the_revision_that_comes_back(
    replace_env: ReplaceHarness,
) -> None:
    content = a_pdf("the same")
    document_id = await replace_env.completed(content=content)
    await replace_env.replace(document_id, content)
    await replace_env.post(document_id, "cancel")
    await replace_env.revert(document_id)
    text = await replace_env.client.get(replace_env.path(document_id, "text"))
    assert (text.status_code, "invoices" in text.text) == (200, True)


class SweepingObjectStore(FolderObjectStore):
    """Processes the ledger between storing a text and committing the row that references it."""

    replace_env: ReplaceHarness

    async def put(self, key: str, data: bytes) -> None:
        await super().put(key, data)
        again = "UPDATE deletions SET done_at = NULL, outcome = NULL, next_attempt_at = now()"
        self.replace_env.worker_env.seed.execute(f"{again} WHERE reason = 'reverted'")
        await self.replace_env.sweep()


async def test_a_late_clearing_up_does_not_take_what_the_next_replacement_is_about_to_keep(
    replace_env: ReplaceHarness, settings: Settings
) -> None:
    document_id = await replace_env.completed()
    await replace_env.failed_replacement(document_id)
    await replace_env.revert(document_id)
    await replace_env.replace(document_id, a_pdf("once more"))
    replace_env.worker_env.objects = sweeping = SweepingObjectStore(settings.server.data_dir / "blobs")
    sweeping.replace_env = replace_env
    replace_env.worker_env.reader.pages = NEW_PAGES
    await replace_env.process(document_id)
    text = await replace_env.client.get(replace_env.path(document_id, "text"))
    assert (text.status_code, text.text) == (200, f"{NEW_TEXT}\f")


async def test_retry_and_clear_of_a_failed_replacement_work_as_of_any_other(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    await replace_env.failed_replacement(document_id)
    assert (await replace_env.post(document_id, "retry")).json()["status"] == "pending"
    await replace_env.fail(document_id)
    answer = await replace_env.client.delete(replace_env.path(document_id, "clear"))
    assert answer.status_code in (200, 202), answer.text
    await replace_env.sweep()
    assert await replace_env.stored(document_id) == []
    assert replace_env.worker_env.seed.one("SELECT count(*) FROM document_revisions") == 0
    assert replace_env.worker_env.seed.one("SELECT count(*) FROM artifacts_full_text") == 0


async def test_a_model_that_was_changed_meanwhile_is_made_up_for(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    await replace_env.failed_replacement(document_id)
    replace_env.worker_env.seed.execute("UPDATE indexing_variants SET is_active = false")
    replace_env.worker_env.seed.insert(
        "indexing_variants", fingerprint="newer", model="newer", dimensions=3, is_active=True
    )
    assert (await replace_env.revert(document_id)).json()["status"] == "completed"
    last = "SELECT purpose, force, revision FROM document_processing_runs ORDER BY epoch DESC LIMIT 1"
    assert replace_env.worker_env.seed.rows(last) == [("reread", True, 1)]


async def judged_revert(replace_env: ReplaceHarness, document_id: UUID) -> dict[str, Any]:
    explained = await explain(replace_env.client, replace_env.worker_env, document_id)
    return moves_of(explained)["revert"]


@pytest.mark.parametrize("status", ["completed", "archived"])
async def test_what_is_explained_of_a_name_that_was_taken_is_what_a_revert_answers(
    replace_env: ReplaceHarness, status: str
) -> None:
    document_id = await replace_env.completed()
    await replace_env.failed_replacement(document_id)
    namesake = replace_env.worker_env.seed.document(
        replace_env.worker_env.kb_id, replace_env.worker_env.owner, name="OLD.pdf", status=status
    )
    judged, answer = await judged_revert(replace_env, document_id), await replace_env.revert(document_id)
    assert answer.status_code == 409
    assert (judged["allowed"], judged["reason"]) == (False, answer.json()["message"])
    assert judged["blocked_by"] == answer.json()["existing_document_id"] == str(namesake)


async def test_the_previous_name_of_a_document_is_free(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    await replace_env.failed_replacement(document_id)
    replace_env.worker_env.seed.document(replace_env.worker_env.kb_id, replace_env.worker_env.owner, name="new.pdf")
    assert (await judged_revert(replace_env, document_id))["allowed"]
    assert (await replace_env.revert(document_id)).status_code == 200


async def test_a_knowledge_base_being_deleted_is_an_obstacle_to_a_revert(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    await replace_env.failed_replacement(document_id)
    replace_env.worker_env.seed.execute("UPDATE knowledge_bases SET leaving_since = now()")
    judged, answer = await judged_revert(replace_env, document_id), await replace_env.revert(document_id)
    assert answer.status_code == 409
    assert (judged["allowed"], {"detail": judged["reason"]}) == (False, answer.json())
