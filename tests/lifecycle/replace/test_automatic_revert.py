"""A replacement that fails because of its file is reverted in the transaction that ends its run."""

import asyncio
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from muniment.artifacts.keys import reading_variant
from muniment.errors import Unavailable
from muniment.storage.db.address import DatabaseAddress
from muniment.storage.tasks.port import RetryLater
from tests.documents.uploads import a_pdf
from tests.lifecycle.replace.harness import NEW_PAGES, ReplaceHarness
from tests.lifecycle.replace.test_completion import NOTES
from tests.lifecycle.replace.test_races import WAITING
from tests.lifecycle.replace.test_revert import HANDED_OVER
from tests.lifecycle.test_explain import explain, moves_of
from tests.support.jobs import wait_until

PROTECTED = "The file is protected by a password."


async def read(replace_env: ReplaceHarness, document_id: UUID) -> dict[str, Any]:
    answer = await replace_env.client.get(replace_env.path(document_id, "").rstrip("/"))
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.parametrize("status", ["completed", "archived"])
async def test_everything_is_again_as_it_was(replace_env: ReplaceHarness, status: str) -> None:
    document_id = await replace_env.completed()
    replace_env.worker_env.seed.execute(NOTES, document_id)
    replace_env.worker_env.seed.execute(HANDED_OVER)
    if status == "archived":
        await replace_env.post(document_id, "archive")
    before = replace_env.row(document_id), replace_env.shown(document_id)
    await replace_env.unreadable_replacement(document_id)
    assert (replace_env.row(document_id), replace_env.shown(document_id)) == before
    pages = await replace_env.client.get(replace_env.path(document_id, "pages"))
    assert pages.json()["total"] == 2


async def test_the_statuses_until_then_are_those_of_the_specification(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    assert (await replace_env.replace(document_id)).json()["status"] == "pending"
    assert (await read(replace_env, document_id))["name"] == "new.pdf"
    seen: list[str] = []

    await replace_env.fail_reading(document_id, lambda: seen.append(replace_env.worker_env.status(document_id)))
    assert (seen, replace_env.worker_env.status(document_id)) == (["processing"], "completed")


async def test_the_api_says_what_failed_and_until_when_it_is_kept(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    assert (await read(replace_env, document_id))["failed_replacement"] is None
    await replace_env.unreadable_replacement(document_id)
    found = await read(replace_env, document_id)
    failed = found["failed_replacement"]
    assert (found["status"], found["name"], found["last_error"]) == ("completed", "old.pdf", None)
    assert (failed["name"], failed["error"], failed["code"]) == ("new.pdf", PROTECTED, "encrypted")
    kept = datetime.fromisoformat(failed["expires_at"]) - datetime.fromisoformat(failed["at"])
    assert kept == timedelta(days=7)
    listed = await replace_env.client.get(f"/api/v1/knowledge-bases/{replace_env.worker_env.kb_id}/documents")
    assert [item["failed_replacement"] for item in listed.json()["items"]] == [failed]
    everywhere = await replace_env.client.get("/api/v1/documents", params={"id": str(document_id)})
    assert [item["failed_replacement"] for item in everywhere.json()["items"]] == [failed]


async def test_it_is_on_record_as_done_by_the_system(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    await replace_env.unreadable_replacement(document_id)
    line = replace_env.worker_env.seed.audit_lines()[-1]
    assert (line["action"], line["actor"]) == ("document_reverted", "system")
    expected = {"old_name": "new.pdf", "new_name": "old.pdf", "old_revision": 2, "new_revision": 1}
    assert line["payload"].items() >= {**expected, "reason": "replacement_failed"}.items()


async def test_a_document_that_was_handed_over_when_it_completed_is_not_handed_over_again(
    replace_env: ReplaceHarness,
) -> None:
    replace_env.worker_env.seed.execute("UPDATE knowledge_bases SET hand_over_policy = 'on_completed'")
    document_id = await replace_env.completed()
    replace_env.worker_env.seed.execute(HANDED_OVER)
    await replace_env.unreadable_replacement(document_id)
    handed_over = "SELECT archive_status, archive_job_id FROM documents"
    assert replace_env.worker_env.seed.rows(handed_over) == [("archived", "job")]


async def test_an_internal_error_is_no_fault_of_the_file(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    await replace_env.failed_replacement(document_id)
    assert (await read(replace_env, document_id))["failed_replacement"] is None
    assert moves_of(await explain(replace_env.client, replace_env.worker_env, document_id))["revert"]["allowed"]


async def test_an_internal_error_is_retried_and_nothing_is_reverted(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    await replace_env.replace(document_id)
    replace_env.worker_env.reader.error = RuntimeError("a fault of the test")
    with pytest.raises(RetryLater):
        await replace_env.process(document_id)
    assert replace_env.worker_env.status(document_id) == "processing"
    replace_env.worker_env.reader.error, replace_env.worker_env.reader.pages = None, NEW_PAGES
    await replace_env.process(document_id)
    found = await read(replace_env, document_id)
    assert (found["name"], found["status"], found["last_error"]) == ("new.pdf", "completed", None)


async def test_an_outage_is_retried(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    await replace_env.replace(document_id)
    replace_env.worker_env.reader.error = Unavailable("the store is away")
    with pytest.raises(Unavailable):
        await replace_env.process(document_id)
    assert replace_env.worker_env.status(document_id) == "processing"
    replace_env.worker_env.reader.error, replace_env.worker_env.reader.pages = None, NEW_PAGES
    await replace_env.process(document_id)
    assert (await read(replace_env, document_id))["name"] == "new.pdf"


async def test_a_cancelled_replacement_is_failed_and_offers_revert(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    await replace_env.replace(document_id)
    await replace_env.post(document_id, "cancel")
    found = await read(replace_env, document_id)
    assert (found["status"], found["failed_replacement"]) == ("failed", None)
    assert moves_of(await explain(replace_env.client, replace_env.worker_env, document_id))["revert"]["allowed"]


async def test_what_never_completed_stays_failed(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.worker_env.document(b"bytes")
    await replace_env.fail_reading(document_id)
    assert replace_env.worker_env.status(document_id) == "failed"
    await replace_env.unreadable_replacement(document_id)
    found = await read(replace_env, document_id)
    assert (found["status"], found["name"], found["last_error"]) == ("failed", "new.pdf", PROTECTED)


@pytest.mark.parametrize("status", ["completed", "archived"])
async def test_a_name_that_was_taken_meanwhile_leaves_the_choice(replace_env: ReplaceHarness, status: str) -> None:
    document_id = await replace_env.completed()
    await replace_env.replace(document_id)
    namesake = replace_env.worker_env.seed.document(
        replace_env.worker_env.kb_id, replace_env.worker_env.owner, name="OLD.pdf", status=status
    )
    await replace_env.fail_reading(document_id)
    found = await read(replace_env, document_id)
    assert (found["status"], found["name"], found["last_error"]) == ("failed", "new.pdf", PROTECTED)
    assert (await replace_env.revert(document_id)).json()["existing_document_id"] == str(namesake)
    replace_env.worker_env.seed.execute("DELETE FROM documents WHERE id = %s", namesake)
    assert (await replace_env.revert(document_id)).json()["name"] == "old.pdf"


async def test_a_namesake_that_comes_in_the_same_moment_has_the_name(
    replace_env: ReplaceHarness, address: DatabaseAddress
) -> None:
    document_id = await replace_env.completed()
    await replace_env.replace(document_id)
    namesake = replace_env.worker_env.seed.document(
        replace_env.worker_env.kb_id, replace_env.worker_env.owner, name="namesake.pdf"
    )
    with psycopg.connect(address.conninfo) as holding:
        holding.execute("UPDATE documents SET name = 'old.pdf', name_key = 'old.pdf' WHERE id = %s", [namesake])
        failing = asyncio.create_task(replace_env.fail_reading(document_id))
        await wait_until(lambda: replace_env.worker_env.seed.one(WAITING) == 1)
        holding.commit()
    await failing
    found = await read(replace_env, document_id)
    assert (found["status"], found["name"], found["last_error"]) == ("failed", "new.pdf", PROTECTED)


async def test_a_failed_reread_of_a_replaced_document_changes_nothing(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    await replace_env.replace(document_id)
    await replace_env.process(document_id)
    replace_env.worker_env.reading = reading_variant({"of": "another version"})
    await replace_env.post(document_id, "retry")
    await replace_env.fail_reading(document_id)
    found = await read(replace_env, document_id)
    assert (found["status"], found["name"], found["failed_replacement"]) == ("completed", "new.pdf", None)


async def test_earlier_replacements_that_never_completed_leave(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    before = replace_env.row(document_id)
    await replace_env.failed_replacement(document_id, "a.pdf")
    await replace_env.replace(document_id, a_pdf("b"), "b.pdf")  # not even started
    await replace_env.unreadable_replacement(document_id, "c.pdf")
    assert (replace_env.row(document_id), replace_env.revisions(document_id)) == (before, [1, 4])
    await replace_env.sweep()
    assert len(await replace_env.stored(document_id)) == 2
    assert (await read(replace_env, document_id))["failed_replacement"]["name"] == "c.pdf"


async def test_a_model_that_was_changed_meanwhile_is_made_up_for(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    await replace_env.replace(document_id)
    replace_env.worker_env.seed.execute("UPDATE indexing_variants SET is_active = false")
    replace_env.worker_env.seed.insert(
        "indexing_variants", fingerprint="newer", model="newer", dimensions=3, is_active=True
    )
    await replace_env.fail_reading(document_id)
    last = "SELECT purpose, force, revision FROM document_processing_runs ORDER BY epoch DESC LIMIT 1"
    assert replace_env.worker_env.seed.rows(last) == [("reread", True, 1)]


async def test_what_happened_is_explained_with_what_can_be_done(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    await replace_env.unreadable_replacement(document_id)
    explained = await explain(replace_env.client, replace_env.worker_env, document_id)
    assert "A replacement with 'new.pdf' failed on " in explained["why"]
    assert explained["why"].endswith(f"and this version was restored: {PROTECTED}")
    assert "You can try the failed file again with `replace/retry`." in explained["next"]
    assert "You can delete the failed file with `replace/failed`." in explained["next"]
