"""The old revision after the new one completed, and after it failed."""

import asyncio

from muniment.bootstrap.maintenance import build_garbage_collector
from muniment.processing.readers.contract import ExtractedPage
from muniment.settings import Settings
from muniment.storage.db.base import now
from tests.documents.uploads import a_pdf
from tests.lifecycle.replace.harness import NEW_PAGES, ReplaceHarness

NOTES = """INSERT INTO document_paragraphs (document_id, organization_id, page_number, paragraph_index,
                                            artifact_paragraph_id, paragraph_text_sha256, annotations)
           SELECT %s, organization_id, page_number, paragraph_index, id, paragraph_text_sha256,
                  jsonb_build_object('at', paragraph_index) FROM artifact_paragraphs WHERE page_number = 1"""


async def test_the_old_file_goes_only_when_the_new_one_is_read(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    (old,) = await replace_env.stored(document_id)
    await replace_env.replace(document_id)
    (new,) = set(await replace_env.stored(document_id)) - {old}
    await replace_env.fail(document_id)
    await replace_env.sweep()
    assert set(await replace_env.stored(document_id)) == {old, new}

    await replace_env.post(document_id, "retry")
    replace_env.worker_env.reader.pages = NEW_PAGES
    await replace_env.process(document_id)
    assert replace_env.worker_env.status(document_id) == "completed"
    due = "SELECT target, reason FROM deletions WHERE done_at IS NULL AND reason <> 'never_kept' AND store = 'blobs'"
    assert replace_env.worker_env.seed.rows(due) == [(old, "replaced")]
    await replace_env.sweep()
    assert await replace_env.stored(document_id) == [new]
    assert replace_env.worker_env.seed.rows("SELECT revision, shelved FROM document_revisions") == [(2, None)]


async def test_a_purge_takes_what_was_read_from_earlier_revisions_too(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    await replace_env.replace(document_id)
    replace_env.worker_env.reader.pages = NEW_PAGES
    await replace_env.process(document_id)
    await replace_env.sweep()
    assert (
        replace_env.worker_env.seed.one("SELECT count(*) FROM artifacts_full_text") == 2
    )  # not collected before the end of its grace period
    await replace_env.post(document_id, "archive")
    answer = await replace_env.client.delete(replace_env.path(document_id, "purge"))
    assert answer.status_code == 200, answer.text
    assert replace_env.worker_env.seed.one("SELECT count(*) FROM artifacts_full_text") == 0
    assert [info.key async for info in replace_env.stores.objects.list("")] == []


async def test_known_content_takes_the_place_at_once(replace_env: ReplaceHarness) -> None:
    content = a_pdf("known")
    await replace_env.completed("known.pdf", content)
    document_id = await replace_env.completed(content=b"other")
    opened = replace_env.worker_env.reader.opened
    await replace_env.replace(document_id, content)
    await replace_env.process(document_id)
    assert (replace_env.worker_env.status(document_id), replace_env.worker_env.reader.opened) == ("completed", opened)
    assert replace_env.revisions(document_id) == [2]
    await replace_env.sweep()
    assert len(await replace_env.stored(document_id)) == 1


async def test_a_run_that_fails_late_has_not_touched_what_the_old_revision_shows(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    replace_env.worker_env.seed.execute(NOTES, document_id)
    before = replace_env.shown(document_id)
    await replace_env.replace(document_id)
    replace_env.worker_env.reader.pages = NEW_PAGES
    await replace_env.fail_late(document_id)
    assert replace_env.shown(document_id) == before


async def test_annotations_follow_their_place_into_the_new_revision_and_are_stale_without_one(
    replace_env: ReplaceHarness,
) -> None:
    document_id = await replace_env.completed()
    replace_env.worker_env.seed.execute(NOTES, document_id)
    replace_env.worker_env.seed.execute("UPDATE document_pages SET annotations = '{\"seen\": true}'")
    await replace_env.replace(document_id)
    replace_env.worker_env.reader.pages = NEW_PAGES
    await replace_env.process(document_id)
    written = "SELECT annotations, stale_at IS NULL FROM document_paragraphs ORDER BY annotations->>'at'"
    assert replace_env.worker_env.seed.rows(written) == [({"at": 0}, False), ({"at": 1}, True)]
    pages = "SELECT page_number, annotations, stale_at IS NULL FROM document_pages ORDER BY 1"
    assert replace_env.worker_env.seed.rows(pages) == [(1, {"seen": True}, True), (2, {"seen": True}, False)]
    trail = str(replace_env.worker_env.seed.audit_lines())
    assert "seen" not in trail


async def test_what_was_read_from_the_old_content_is_left_to_the_garbage_collection(
    replace_env: ReplaceHarness, settings: Settings
) -> None:
    document_id = await replace_env.completed()
    old = replace_env.worker_env.seed.one("SELECT artifact_text_id FROM documents")
    await replace_env.replace(document_id)
    collection = build_garbage_collector(settings, replace_env.stores)
    assert (await collection.collect(now())).marked == 0  # it can still be reverted
    replace_env.worker_env.reader.pages = NEW_PAGES
    await replace_env.process(document_id)
    assert (await collection.collect(now())).marked == 1
    assert replace_env.worker_env.seed.one(
        "SELECT unreferenced_at IS NOT NULL FROM artifacts_full_text WHERE id = %s", old
    )


async def test_replacing_again_and_again_leaves_one_revision_and_one_file(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    for turn in range(3):
        replace_env.worker_env.reader.pages = (ExtractedPage(1, f"Turn {turn}.", NEW_PAGES[0].method),)
        await replace_env.replace(document_id, a_pdf(f"turn {turn}"))
        await replace_env.process(document_id)
    await replace_env.sweep()
    assert replace_env.revisions(document_id) == [4]
    assert len(await replace_env.stored(document_id)) == 1
    assert replace_env.worker_env.seed.one("SELECT count(*) FROM document_pages") == 1


async def test_two_replacements_at_once_are_two_revisions_and_the_later_one_stays(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    contents = {name: a_pdf(name) for name in ("a.pdf", "b.pdf")}
    answers = await asyncio.gather(*(replace_env.replace(document_id, data, name) for name, data in contents.items()))
    assert [answer.status_code for answer in answers] == [200, 200]
    assert replace_env.revisions(document_id) == [1, 2, 3]
    name = replace_env.worker_env.seed.one("SELECT name FROM documents")
    got = await replace_env.client.get(replace_env.path(document_id, "download"))
    assert got.content == contents[name]
    await replace_env.process(document_id)
    await replace_env.sweep()
    assert (replace_env.worker_env.status(document_id), len(await replace_env.stored(document_id))) == ("completed", 1)
