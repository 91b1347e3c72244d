"""Another user moves the document while its new bytes are uploaded, or at the same moment."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from uuid import UUID

import httpx
import psycopg
import pytest

from muniment.lifecycle.moves.revert import Revert
from muniment.lifecycle.obstacles import MoveContext
from muniment.lifecycle.rules import Visibility
from muniment.storage.db.address import DatabaseAddress
from tests.documents.uploads import a_form
from tests.lifecycle.replace.harness import NEW_PAGES, ReplaceHarness
from tests.support.jobs import wait_until

WAITING = """SELECT count(*) FROM pg_stat_activity
              WHERE wait_event_type = 'Lock' AND datname = current_database()"""


async def replace_while(
    replace_env: ReplaceHarness, document_id: UUID, meanwhile: Callable[[], Awaitable[object]]
) -> httpx.Response:
    """Send half of the file, wait for the other move, and send the rest."""
    form = a_form('form-data; name="file"; filename="new.pdf"')

    async def body() -> AsyncIterator[bytes]:
        yield form["content"][:400]
        await begun(replace_env)
        await meanwhile()
        yield form["content"][400:]

    return await replace_env.client.post(
        replace_env.path(document_id, "replace"), content=body(), headers=form["headers"]
    )


async def begun(replace_env: ReplaceHarness) -> None:
    await wait_until(lambda: bool(replace_env.worker_env.seed.one("SELECT count(*) FROM uploads")))


def are_left(replace_env: ReplaceHarness) -> int:
    """Return the number of unclaimed uploads and open ledger entries."""
    rows = "SELECT (SELECT count(*) FROM uploads) + (SELECT count(*) FROM deletions WHERE done_at IS NULL)"
    return int(replace_env.worker_env.seed.one(rows))


async def test_a_worker_that_begins_meanwhile_keeps_the_document(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.worker_env.document(b"old bytes")

    async def begin() -> None:
        replace_env.worker_env.seed.execute("UPDATE documents SET status = 'processing'")

    answer = await replace_while(replace_env, document_id, begin)
    assert answer.status_code == 400
    assert answer.json() == {"detail": "Cannot replace document while processing is in progress"}
    assert (replace_env.revisions(document_id), len(await replace_env.stored(document_id))) == ([1], 1)
    assert are_left(replace_env) == 0


async def test_a_worker_that_ends_meanwhile_has_made_what_can_be_reverted_to(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.worker_env.document(b"old bytes", name="old.pdf")
    assert (await replace_while(replace_env, document_id, lambda: replace_env.process(document_id))).status_code == 200
    await replace_env.fail(document_id)
    answer = await replace_env.revert(document_id)
    assert (answer.json()["status"], answer.json()["name"]) == ("completed", "old.pdf")


async def test_a_document_that_is_gone_meanwhile_is_not_found_and_nothing_is_left(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()

    async def purge() -> None:
        await replace_env.post(document_id, "archive")
        answer = await replace_env.client.delete(replace_env.path(document_id, "purge"))
        assert answer.status_code in (200, 202), answer.text

    answer = await replace_while(replace_env, document_id, purge)
    assert (answer.status_code, answer.json()) == (404, {"detail": "Document not found"})
    await replace_env.sweep()
    assert await replace_env.stored(document_id) == []
    assert are_left(replace_env) == 0


async def test_a_right_that_is_taken_away_meanwhile_is_gone(replace_env: ReplaceHarness) -> None:
    document_id, seed = await replace_env.completed(), replace_env.worker_env.seed

    async def take_away() -> None:
        seed.execute(
            "UPDATE knowledge_bases SET owner_id = %s", seed.person(replace_env.worker_env.owner.organization_id).id
        )
        seed.member(replace_env.worker_env.kb_id, replace_env.worker_env.owner, "editor")

    answer = await replace_while(replace_env, document_id, take_away)
    assert (answer.status_code, replace_env.worker_env.status(document_id)) == (403, "completed")
    assert (len(await replace_env.stored(document_id)), are_left(replace_env)) == (1, 0)


async def test_another_replacement_meanwhile_is_replaced_in_its_turn(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    answer = await replace_while(replace_env, document_id, lambda: replace_env.replace(document_id, name="between.pdf"))
    assert (answer.status_code, replace_env.revisions(document_id)) == (200, [1, 2, 3])
    await replace_env.fail(document_id)
    assert (await replace_env.revert(document_id)).json()["name"] == "old.pdf"
    assert len(await replace_env.stored(document_id)) == 1


async def test_an_upload_that_breaks_leaves_the_document_as_it_was(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    before = replace_env.row(document_id), replace_env.shown(document_id)

    async def hang_up() -> None:
        raise ConnectionError

    with pytest.raises(ConnectionError):
        await replace_while(replace_env, document_id, hang_up)
    await wait_until(lambda: replace_env.worker_env.seed.one("SELECT count(*) FROM uploads") == 0)
    await replace_env.sweep()
    assert (replace_env.row(document_id), replace_env.shown(document_id)) == before
    assert len(await replace_env.stored(document_id)) == 1


async def test_bytes_whose_row_was_swept_become_no_revision_and_no_orphan(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()

    async def expire() -> None:
        replace_env.worker_env.seed.execute("DELETE FROM uploads")

    assert (await replace_while(replace_env, document_id, expire)).status_code == 503
    assert (replace_env.revisions(document_id), len(await replace_env.stored(document_id))) == ([1], 1)


async def test_of_replace_and_purge_in_one_moment_one_goes_through(
    replace_env: ReplaceHarness, address: DatabaseAddress
) -> None:
    document_id = await replace_env.completed()
    await replace_env.post(document_id, "archive")
    with psycopg.connect(address.conninfo) as holding:
        holding.execute("SELECT FROM documents WHERE id = %s FOR UPDATE", [document_id])
        purging = asyncio.create_task(replace_env.client.delete(replace_env.path(document_id, "purge")))
        replacing = asyncio.create_task(replace_env.replace(document_id))
        await wait_until(lambda: replace_env.worker_env.seed.one(WAITING) == 2)
        holding.rollback()
    purged, replaced = await purging, await replacing
    await replace_env.sweep()
    if replaced.status_code == 200:
        assert (purged.status_code, replace_env.worker_env.status(document_id)) == (400, "pending")
        assert len(await replace_env.stored(document_id)) == 2
    else:
        assert (purged.status_code, replaced.status_code) == (200, 404)
        assert await replace_env.stored(document_id) == []
    assert are_left(replace_env) == 0


@pytest.mark.parametrize("move", ["replace", "revert"])
async def test_a_namesake_that_comes_in_the_same_moment_has_the_name(
    replace_env: ReplaceHarness, address: DatabaseAddress, move: str
) -> None:
    name = "new.pdf" if move == "replace" else "old.pdf"
    document_id = await replace_env.completed()
    if move == "revert":
        await replace_env.failed_replacement(document_id, "other.pdf")
    namesake = replace_env.worker_env.seed.document(
        replace_env.worker_env.kb_id, replace_env.worker_env.owner, name="namesake.pdf"
    )
    before = replace_env.row(document_id)
    with psycopg.connect(address.conninfo) as holding:
        holding.execute("UPDATE documents SET name = %s, name_key = %s WHERE id = %s", [name, name, namesake])
        moving = asyncio.create_task(
            replace_env.replace(document_id) if move == "replace" else replace_env.revert(document_id)
        )
        await wait_until(lambda: replace_env.worker_env.seed.one(WAITING) == 1)
        holding.commit()
    answer = await moving
    assert (answer.status_code, answer.json().get("existing_document_id")) == (409, str(namesake))
    assert replace_env.row(document_id) == before


async def test_a_late_worker_of_the_old_revision_writes_nothing(
    replace_env: ReplaceHarness, address: DatabaseAddress
) -> None:
    document_id = await replace_env.completed()
    await replace_env.post(document_id, "retry")
    replace_env.worker_env.reader.pages = NEW_PAGES
    with psycopg.connect(address.conninfo) as holding:
        holding.execute("SELECT FROM documents WHERE id = %s FOR UPDATE", [document_id])
        replacing = asyncio.create_task(replace_env.replace(document_id))
        await wait_until(lambda: replace_env.worker_env.seed.one(WAITING) == 1)
        reading = asyncio.create_task(replace_env.worker()(replace_env.worker_env.job(document_id)))
        await wait_until(lambda: replace_env.worker_env.seed.one(WAITING) == 2)
        holding.rollback()
    assert (await replacing).status_code == 200
    await reading
    assert (
        replace_env.worker_env.status(document_id),
        replace_env.worker_env.seed.one("SELECT artifact_text_id FROM documents"),
    ) == (
        "pending",
        None,
    )


async def test_a_document_that_changed_since_it_was_looked_at_is_not_reverted(
    replace_env: ReplaceHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    document_id = await replace_env.completed()
    await replace_env.failed_replacement(document_id)
    look = Revert.visibility

    async def change_after_look(move: Revert, context: MoveContext) -> Visibility:
        visibility = await look(move, context)
        replace_env.worker_env.seed.execute("UPDATE documents SET epoch = epoch + 1 WHERE id = %s", document_id)
        return visibility

    monkeypatch.setattr(Revert, "visibility", change_after_look)
    answer = await replace_env.revert(document_id)
    assert answer.status_code == 409
    assert replace_env.row(document_id)["status"] == "failed"
