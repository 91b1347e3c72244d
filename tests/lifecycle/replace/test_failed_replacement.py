"""The content of a failed replacement: tried again, deleted, expired, replaced, and purged with its document."""

import asyncio
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest

from muniment.bootstrap.maintenance import build_replacement_sweep
from muniment.storage.db.address import DatabaseAddress
from tests.documents.uploads import a_pdf
from tests.lifecycle.replace.harness import NEW_PAGES, ReplaceHarness
from tests.lifecycle.replace.test_automatic_revert import PROTECTED, read
from tests.lifecycle.replace.test_races import WAITING
from tests.support.jobs import wait_until

NONE = {"detail": "There is no failed replacement"}


async def reverted(replace_env: ReplaceHarness) -> UUID:
    """Return a document whose replacement could not be read."""
    document_id = await replace_env.completed()
    await replace_env.unreadable_replacement(document_id)
    return document_id


async def discard(replace_env: ReplaceHarness, document_id: UUID) -> httpx.Response:
    return await replace_env.client.delete(replace_env.path(document_id, "replace/failed"))


def originals(replace_env: ReplaceHarness, document_id: UUID) -> dict[int, str]:
    question = "SELECT revision, original_uri FROM document_revisions WHERE document_id = %s"
    return dict(replace_env.worker_env.seed.rows(question, document_id))


async def test_the_content_is_kept_as_a_revision(replace_env: ReplaceHarness) -> None:
    document_id = await reverted(replace_env)
    kept = originals(replace_env, document_id)
    assert list(kept) == [1, 2]
    assert await replace_env.stored(document_id) == sorted(kept.values())


async def test_a_retry_that_can_read_it_replaces_the_document(replace_env: ReplaceHarness) -> None:
    document_id = await reverted(replace_env)
    kept = originals(replace_env, document_id)[2]
    answer = await replace_env.post(document_id, "replace/retry")
    assert answer.status_code == 200, answer.text
    assert (answer.json()["status"], answer.json()["name"]) == ("pending", "new.pdf")
    assert answer.json()["failed_replacement"] is None
    line = replace_env.worker_env.seed.audit_lines()[-1]
    assert (line["action"], line["actor"]) == ("document_replaced", str(replace_env.worker_env.owner.id))
    replace_env.worker_env.reader.pages = NEW_PAGES
    await replace_env.process(document_id)
    found = await read(replace_env, document_id)
    assert (found["status"], found["name"], found["failed_replacement"]) == ("completed", "new.pdf", None)
    await replace_env.sweep()
    assert await replace_env.stored(document_id) == [kept]


@pytest.mark.parametrize("status", ["completed", "archived"])
async def test_a_retry_that_fails_again_brings_the_old_one_back_again(replace_env: ReplaceHarness, status: str) -> None:
    document_id = await replace_env.completed()
    if status == "archived":
        await replace_env.post(document_id, "archive")
    before = replace_env.row(document_id), replace_env.shown(document_id)
    await replace_env.unreadable_replacement(document_id)
    assert (await replace_env.post(document_id, "replace/retry")).status_code == 200
    await replace_env.fail_reading(document_id)
    assert (replace_env.row(document_id), replace_env.shown(document_id)) == before
    await replace_env.sweep()
    assert (replace_env.revisions(document_id), len(await replace_env.stored(document_id))) == ([1, 3], 2)


async def test_a_retry_whose_name_is_taken_is_refused(replace_env: ReplaceHarness) -> None:
    document_id = await reverted(replace_env)
    namesake = replace_env.worker_env.seed.document(
        replace_env.worker_env.kb_id, replace_env.worker_env.owner, name="NEW.pdf"
    )
    before = replace_env.row(document_id), originals(replace_env, document_id)
    answer = await replace_env.post(document_id, "replace/retry")
    assert (answer.status_code, answer.json()["existing_document_id"]) == (409, str(namesake))
    assert (replace_env.row(document_id), originals(replace_env, document_id)) == before


async def test_a_reread_leaves_the_failed_replacement_alone(replace_env: ReplaceHarness) -> None:
    document_id = await reverted(replace_env)
    answer = await replace_env.post(document_id, "retry")
    assert answer.json()["failed_replacement"]["error"] == PROTECTED
    await replace_env.process(document_id)
    assert replace_env.revisions(document_id) == [1, 2]


async def test_deleting_it_leaves_the_document_alone(replace_env: ReplaceHarness) -> None:
    document_id = await reverted(replace_env)
    before = replace_env.row(document_id), replace_env.shown(document_id)
    answer = await discard(replace_env, document_id)
    assert (answer.status_code, answer.json()) == (200, {"message": "Failed replacement deleted"})
    assert (replace_env.row(document_id), replace_env.shown(document_id)) == before
    kept = originals(replace_env, document_id)
    assert (list(kept), await replace_env.stored(document_id)) == ([1], [kept[1]])
    line = replace_env.worker_env.seed.audit_lines()[-1]
    assert (line["action"], line["actor"]) == ("failed_replacement_deleted", str(replace_env.worker_env.owner.id))
    expected = {"doc_name": "old.pdf", "replacement_name": "new.pdf", "revision": 2, "reason": "requested"}
    assert line["payload"].items() >= expected.items()


async def test_without_one_both_moves_are_refused(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    for status in ("completed", "archived", "failed", "pending", "processing"):
        replace_env.worker_env.seed.execute("UPDATE documents SET status = %s", status)
        for answer in (await replace_env.post(document_id, "replace/retry"), await discard(replace_env, document_id)):
            assert (answer.status_code, answer.json()) == (400, NONE), status


@pytest.mark.parametrize(("role", "expected"), [("editor", 403), ("viewer", 403), (None, 404)])
async def test_only_the_owner_and_admins_make_them(
    replace_env: ReplaceHarness, role: str | None, expected: int
) -> None:
    document_id, env = await reverted(replace_env), replace_env.worker_env
    person = env.seed.person(env.owner.organization_id)
    if role:
        env.seed.member(env.kb_id, person, role)
    for method, place in (("POST", "replace/retry"), ("DELETE", "replace/failed")):
        path = replace_env.path(document_id, place)
        answer = await replace_env.client.request(method, path, headers=person.headers)
        assert answer.status_code == expected, answer.text
    assert replace_env.revisions(document_id) == [1, 2]


async def test_the_next_replacement_deletes_it(replace_env: ReplaceHarness) -> None:
    document_id = await reverted(replace_env)
    first = originals(replace_env, document_id)
    await replace_env.replace(document_id, a_pdf("third"), "third.pdf")
    assert replace_env.revisions(document_id) == [1, 3]
    assert first[2] not in await replace_env.stored(document_id)
    assert (await read(replace_env, document_id))["failed_replacement"] is None


async def test_after_seven_days_it_is_deleted(replace_env: ReplaceHarness) -> None:
    document_id, env = await reverted(replace_env), replace_env.worker_env
    sweep = build_replacement_sweep(replace_env.stores)
    await sweep.run()
    assert replace_env.revisions(document_id) == [1, 2]
    env.seed.execute("UPDATE document_revisions SET expires_at = now() WHERE revision = 2")
    await sweep.run()
    kept = originals(replace_env, document_id)
    assert (list(kept), await replace_env.stored(document_id)) == ([1], [kept[1]])
    line = env.seed.audit_lines()[-1]
    assert (line["action"], line["actor"]) == ("failed_replacement_deleted", "system")
    assert line["payload"]["reason"] == "expired"
    assert replace_env.worker_env.status(document_id) == "completed"


async def test_what_has_expired_can_be_neither_retried_nor_deleted_twice(replace_env: ReplaceHarness) -> None:
    document_id = await reverted(replace_env)
    replace_env.worker_env.seed.execute("UPDATE document_revisions SET expires_at = now() WHERE revision = 2")
    await build_replacement_sweep(replace_env.stores).run()
    assert (await replace_env.post(document_id, "replace/retry")).json() == NONE
    assert (await discard(replace_env, document_id)).json() == NONE


async def test_of_expiry_and_retry_in_one_moment_one_decides_about_the_content(
    replace_env: ReplaceHarness, address: DatabaseAddress
) -> None:
    document_id, env = await reverted(replace_env), replace_env.worker_env
    kept = originals(replace_env, document_id)[2]
    env.seed.execute("UPDATE document_revisions SET expires_at = now() WHERE revision = 2")
    with psycopg.connect(address.conninfo) as holding:
        holding.execute("SELECT FROM document_revisions WHERE revision = 2 FOR UPDATE")
        expiring = asyncio.create_task(build_replacement_sweep(replace_env.stores).run())
        retrying = asyncio.create_task(replace_env.post(document_id, "replace/retry"))
        await wait_until(lambda: env.seed.one(WAITING) == 2)
        holding.rollback()
    await expiring
    answer = await retrying
    await replace_env.sweep()
    is_kept = kept in await replace_env.stored(document_id)
    if answer.status_code == 200:
        assert (env.status(document_id), is_kept) == ("pending", True)
    else:
        assert (answer.json(), env.status(document_id), is_kept) == (NONE, "completed", False)


async def test_a_purge_takes_it_along_and_the_receipt_names_it(replace_env: ReplaceHarness) -> None:
    document_id = await reverted(replace_env)
    kept = originals(replace_env, document_id)
    await replace_env.post(document_id, "archive")
    answer = await replace_env.client.delete(replace_env.path(document_id, "purge"))
    assert answer.status_code == 200, answer.text
    assert await replace_env.stored(document_id) == []
    found = replace_env.worker_env.seed.one("SELECT found FROM receipts")
    assert [original["key"] for original in found["originals"]] == [kept[1], kept[2]]
    record: dict[str, Any] = (await replace_env.client.get(f"/api/v1/receipts/{answer.json()['receipt_id']}")).json()
    assert kept[2] in str(record)
