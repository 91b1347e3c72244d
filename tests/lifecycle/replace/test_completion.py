"""What becomes of the old revision when the new one is read, and when it is not."""

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


async def test_the_old_file_goes_only_when_the_new_one_is_read(bench: ReplaceHarness) -> None:
    document_id = await bench.completed()
    (old,) = await bench.stored(document_id)
    await bench.replace(document_id)
    (new,) = set(await bench.stored(document_id)) - {old}
    await bench.fail(document_id)
    await bench.sweep()
    assert set(await bench.stored(document_id)) == {old, new}

    await bench.post(document_id, "retry")
    bench.desk.reader.pages = NEW_PAGES
    await bench.process(document_id)
    assert bench.desk.status(document_id) == "completed"
    due = "SELECT target, reason FROM deletions WHERE done_at IS NULL AND reason <> 'never_kept' AND store = 'blobs'"
    assert bench.desk.seed.rows(due) == [(old, "replaced")]
    await bench.sweep()
    assert await bench.stored(document_id) == [new]
    assert bench.desk.seed.rows("SELECT revision, shelved FROM document_revisions") == [(2, None)]


async def test_a_purge_takes_what_was_read_from_earlier_revisions_too(bench: ReplaceHarness) -> None:
    document_id = await bench.completed()
    await bench.replace(document_id)
    bench.desk.reader.pages = NEW_PAGES
    await bench.process(document_id)
    await bench.sweep()
    assert bench.desk.seed.one("SELECT count(*) FROM artifacts_full_text") == 2  # not collected before its grace
    await bench.post(document_id, "archive")
    answer = await bench.client.delete(bench.path(document_id, "purge"))
    assert answer.status_code == 200, answer.text
    assert bench.desk.seed.one("SELECT count(*) FROM artifacts_full_text") == 0
    assert [info.key async for info in bench.stores.objects.list("")] == []


async def test_known_content_takes_the_place_at_once(bench: ReplaceHarness) -> None:
    content = a_pdf("known")
    await bench.completed("known.pdf", content)
    document_id = await bench.completed(content=b"other")
    opened = bench.desk.reader.opened
    await bench.replace(document_id, content)
    await bench.process(document_id)
    assert (bench.desk.status(document_id), bench.desk.reader.opened) == ("completed", opened)
    assert bench.revisions(document_id) == [2]
    await bench.sweep()
    assert len(await bench.stored(document_id)) == 1


async def test_a_run_that_fails_late_has_not_touched_what_the_old_revision_shows(bench: ReplaceHarness) -> None:
    document_id = await bench.completed()
    bench.desk.seed.execute(NOTES, document_id)
    before = bench.shown(document_id)
    await bench.replace(document_id)
    bench.desk.reader.pages = NEW_PAGES
    await bench.fail_late(document_id)
    assert bench.shown(document_id) == before


async def test_annotations_follow_their_place_into_the_new_revision_and_are_stale_without_one(
    bench: ReplaceHarness,
) -> None:
    document_id = await bench.completed()
    bench.desk.seed.execute(NOTES, document_id)
    bench.desk.seed.execute("UPDATE document_pages SET annotations = '{\"seen\": true}'")
    await bench.replace(document_id)
    bench.desk.reader.pages = NEW_PAGES
    await bench.process(document_id)
    written = "SELECT annotations, stale_at IS NULL FROM document_paragraphs ORDER BY annotations->>'at'"
    assert bench.desk.seed.rows(written) == [({"at": 0}, False), ({"at": 1}, True)]
    pages = "SELECT page_number, annotations, stale_at IS NULL FROM document_pages ORDER BY 1"
    assert bench.desk.seed.rows(pages) == [(1, {"seen": True}, True), (2, {"seen": True}, False)]
    trail = str(bench.desk.seed.audit_lines())
    assert "seen" not in trail


async def test_what_was_read_from_the_old_content_is_left_to_the_garbage_collection(
    bench: ReplaceHarness, settings: Settings
) -> None:
    document_id = await bench.completed()
    old = bench.desk.seed.one("SELECT artifact_text_id FROM documents")
    await bench.replace(document_id)
    collection = build_garbage_collector(settings, bench.stores)
    assert (await collection.collect(now())).marked == 0  # it can still come back
    bench.desk.reader.pages = NEW_PAGES
    await bench.process(document_id)
    assert (await collection.collect(now())).marked == 1
    assert bench.desk.seed.one("SELECT unreferenced_at IS NOT NULL FROM artifacts_full_text WHERE id = %s", old)


async def test_replacing_again_and_again_leaves_one_revision_and_one_file(bench: ReplaceHarness) -> None:
    document_id = await bench.completed()
    for turn in range(3):
        bench.desk.reader.pages = (ExtractedPage(1, f"Turn {turn}.", NEW_PAGES[0].method),)
        await bench.replace(document_id, a_pdf(f"turn {turn}"))
        await bench.process(document_id)
    await bench.sweep()
    assert bench.revisions(document_id) == [4]
    assert len(await bench.stored(document_id)) == 1
    assert bench.desk.seed.one("SELECT count(*) FROM document_pages") == 1


async def test_two_replacements_at_once_are_two_revisions_and_the_later_one_stays(bench: ReplaceHarness) -> None:
    document_id = await bench.completed()
    contents = {name: a_pdf(name) for name in ("a.pdf", "b.pdf")}
    answers = await asyncio.gather(*(bench.replace(document_id, data, name) for name, data in contents.items()))
    assert [answer.status_code for answer in answers] == [200, 200]
    assert bench.revisions(document_id) == [1, 2, 3]
    name = bench.desk.seed.one("SELECT name FROM documents")
    got = await bench.client.get(bench.path(document_id, "download"))
    assert got.content == contents[name]
    await bench.process(document_id)
    await bench.sweep()
    assert (bench.desk.status(document_id), len(await bench.stored(document_id))) == ("completed", 1)
