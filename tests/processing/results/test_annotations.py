"""Annotations of documents by users."""

import json
from typing import Any
from uuid import UUID

import pytest

from muniment.artifacts.tables import ArtifactParagraph
from muniment.documents.tables import Document
from muniment.errors import Forbidden
from muniment.processing.readers.contract import ExtractedPage, ExtractionMethod, Paragraph
from muniment.processing.results.annotations import AnnotationRepository
from muniment.storage.db.base import new_id
from tests.processing.results.results_fixture import DRAWING_KEY, PAGES, PICTURE_KEY, ResultsFixture

NOTE = {"by": "somebody", "colours": ["red", {"depth": 3}], "NaN": "a word", "back\\u0000slash": 1}
PLACES = ("pages/1", "pages/1/paragraphs/1", f"diagrams/{PICTURE_KEY}")
PARAGRAPHS = "SELECT page_number, paragraph_index, annotations FROM document_paragraphs ORDER BY 1, 2"


async def written(results_env: ResultsFixture, document_id: UUID, place: str, **changes: Any) -> Any:
    answer = await results_env.patch(document_id, place, **changes)
    assert answer.status_code == 200, answer.text
    return answer.json()


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels - 1):
        value = {"in": value}
    return value


REFUSED = (
    json.dumps({"annotations": {"text": "x" * (64 * 1024 - 10)}}),
    json.dumps({"annotations": {"text": "ö" * (32 * 1024)}}),
    json.dumps({"annotations": nested(11)}),
    '{"annotations": {"a": [1e308, 1]}}',
    '{"annotations": {"a": {"b": 1e-307}}}',
    json.dumps({"annotations": {"a": 10**31}}),
    '{"annotations": {"a": "\\u0000"}}',
    '{"annotations": {"\\u0000": 1}}',
    '{"annotations": {"a": "back\\\\\\u0000"}}',
    '{"annotations": {"a": "\\ud800"}}',
    '{"annotations": {"a": NaN}}',
    '{"annotations": {"a": 1e400}}',
    '{"annotations": "text"}',
    '{"annotations": [1]}',
    '{"annotation": {}}',
    "{}",
)


async def test_a_page_takes_annotations_and_flags_each_on_its_own(results_env: ResultsFixture) -> None:
    document_id = await results_env.document()
    body = await written(results_env, document_id, "pages/1", annotations=NOTE)
    assert body == {"page_number": 1, "annotations": NOTE, "flags": None, "stale_at": None}
    await written(results_env, document_id, "pages/1", flags={"checked": True})
    both = {"annotations": NOTE, "flags": {"checked": True}}
    assert (await results_env.json(document_id, "pages/1")).items() >= both.items()
    await written(results_env, document_id, "pages/1", annotations=None)
    assert (await results_env.json(document_id, "pages"))["items"][0].items() >= {**both, "annotations": None}.items()


async def test_null_leaves_nothing_behind_and_not_the_json_value_null(results_env: ResultsFixture) -> None:
    document_id = await results_env.document()
    for place in ("pages/1", f"diagrams/{PICTURE_KEY}"):
        await written(results_env, document_id, place, annotations=NOTE)
        await written(results_env, document_id, place, annotations=None)
    assert results_env.seed.one("SELECT count(*) FROM document_pages WHERE annotations IS NOT NULL") == 0
    assert results_env.seed.one("SELECT count(*) FROM document_diagrams WHERE annotations IS NOT NULL") == 0


async def test_a_diagram_takes_annotations(results_env: ResultsFixture) -> None:
    document_id = await results_env.document()
    body = await written(results_env, document_id, f"diagrams/{DRAWING_KEY}", annotations=NOTE)
    assert body == {"key": DRAWING_KEY, "page_number": 2, "annotations": NOTE, "stale_at": None}
    assert [item["annotations"] for item in (await results_env.json(document_id, "diagrams"))["items"]] == [None, NOTE]


async def test_a_paragraph_has_a_row_only_while_something_is_written_on_it(results_env: ResultsFixture) -> None:
    document_id = await results_env.document()
    assert results_env.seed.rows(PARAGRAPHS) == []
    body = await written(results_env, document_id, "pages/1/paragraphs/1", annotations={"first": 1})
    assert body == {"page_number": 1, "paragraph_index": 1, "annotations": {"first": 1}, "stale_at": None}
    await written(results_env, document_id, "pages/1/paragraphs/1", annotations=NOTE)
    assert results_env.seed.rows(PARAGRAPHS) == [(1, 1, NOTE)]
    same = """SELECT count(*) FROM document_paragraphs d JOIN artifact_paragraphs a ON a.id = d.artifact_paragraph_id
               AND (a.paragraph_text_sha256, a.page_number, a.paragraph_index)
                 = (d.paragraph_text_sha256, d.page_number, d.paragraph_index)"""
    assert results_env.seed.one(same) == 1
    found = (await results_env.json(document_id, "paragraphs"))["items"]
    assert [item["annotations"] for item in found] == [None, NOTE, None]
    body = await written(results_env, document_id, "pages/1/paragraphs/1", annotations=None)
    assert body == {"page_number": 1, "paragraph_index": 1, "annotations": None, "stale_at": None}
    assert results_env.seed.rows(PARAGRAPHS) == []


async def test_a_page_tells_that_something_is_written_anywhere_on_it(results_env: ResultsFixture) -> None:
    document_id = await results_env.document()
    await written(results_env, document_id, "pages/1/paragraphs/0", annotations=NOTE)
    await written(results_env, document_id, f"diagrams/{DRAWING_KEY}", annotations=NOTE)
    items = (await results_env.json(document_id, "pages"))["items"]
    assert [(item["has_annotations"], item["annotations"]) for item in items] == [
        (True, None),
        (True, None),
        (False, None),
    ]


async def test_a_place_that_is_not_there_is_404(results_env: ResultsFixture) -> None:
    document_id = await results_env.document()
    for place, sentence in (
        ("pages/4", "Page not found"),
        ("pages/1/paragraphs/2", "Paragraph not found"),
        ("pages/9/paragraphs/0", "Paragraph not found"),
        ("pages/1/paragraphs/-1", "Paragraph not found"),
        ("diagrams/p1-unknown", "Diagram not found"),
    ):
        for annotations in (NOTE, None):
            answer = await results_env.patch(document_id, place, annotations=annotations)
            assert (answer.status_code, answer.json()["detail"]) == (404, sentence)
    assert results_env.seed.audit_lines() == []


@pytest.mark.parametrize("status", ["pending", "processing", "failed"])
async def test_nothing_is_written_on_what_is_not_shown(results_env: ResultsFixture, status: str) -> None:
    document_id = await results_env.document(status=status)
    assert [(await results_env.patch(document_id, place, annotations=NOTE)).status_code for place in PLACES] == [
        404
    ] * 3


@pytest.mark.parametrize(("role", "status"), [("viewer", 403), ("editor", 200), (None, 404)])
async def test_editors_write_viewers_may_not_and_strangers_see_nothing(
    results_env: ResultsFixture, role: str | None, status: int
) -> None:
    document_id = await results_env.document()
    async with results_env.api.client(results_env.colleague(role)) as client:
        for place in PLACES:
            answer = await client.patch(results_env.path(document_id, place), json={"annotations": NOTE})
            assert answer.status_code == status, place
    assert len(results_env.seed.audit_lines()) == (3 if status == 200 else 0)


async def test_nobody_and_other_organizations_write_nothing(results_env: ResultsFixture) -> None:
    document_id = await results_env.document()
    async with results_env.api.client(results_env.seed.person(is_admin=True)) as client:
        for place in PLACES:
            path = results_env.path(document_id, place)
            assert (await client.patch(path, json={"annotations": NOTE})).status_code == 404
            assert (await results_env.api.anonymous.patch(path, json={"annotations": NOTE})).status_code == 401
    assert results_env.seed.audit_lines() == []


@pytest.mark.parametrize("place", PLACES)
async def test_what_cannot_or_should_not_be_kept_is_422(results_env: ResultsFixture, place: str) -> None:
    document_id = await results_env.document()
    for text in REFUSED:
        answer = await results_env.client.patch(
            results_env.path(document_id, place), content=text, headers={"Content-Type": "application/json"}
        )
        assert answer.status_code == 422, text[:80]
    assert results_env.seed.audit_lines() == []


async def test_what_is_just_within_bounds_is_kept_as_it_was_sent(results_env: ResultsFixture) -> None:
    document_id = await results_env.document()
    for note in ({"text": "x" * (64 * 1024 - 11)}, nested(10), {"big": 10**30 - 1, "quotes": '"\\'}, {}):
        await written(results_env, document_id, "pages/1", annotations=note, flags={})
        assert (await results_env.json(document_id, "pages/1"))["annotations"] == note


async def test_the_trail_says_who_wrote_where_and_not_what(results_env: ResultsFixture) -> None:
    document_id = await results_env.document()
    await written(results_env, document_id, "pages/1", annotations=NOTE, flags={"x": 1})
    await written(results_env, document_id, "pages/1/paragraphs/1", annotations=NOTE)
    await written(results_env, document_id, "pages/1/paragraphs/1", annotations=None)
    await written(results_env, document_id, "pages/1/paragraphs/1", annotations=None)  # nothing to delete
    await written(results_env, document_id, f"diagrams/{PICTURE_KEY}", annotations=NOTE)
    lines = results_env.seed.audit_lines()
    assert {(line["action"], line["actor"], line["document_id"]) for line in lines} == {
        ("document_annotated", str(results_env.owner.id), document_id)
    }
    paragraph = ("paragraph", {"page_number": 1, "paragraph_index": 1}, ["annotations"])
    assert [(line["payload"]["kind"], line["payload"]["place"], line["payload"]["fields"]) for line in lines] == [
        ("page", {"page_number": 1}, ["annotations", "flags"]),
        paragraph,
        paragraph,
        ("diagram", {"page_number": 1, "key": PICTURE_KEY}, ["annotations"]),
    ]
    assert "somebody" not in json.dumps([line["payload"] for line in lines])


async def test_what_was_written_survives_a_reread_and_is_stale_where_its_place_is_gone(
    results_env: ResultsFixture,
) -> None:
    document_id = await results_env.document()
    for place in ("pages/2", "pages/1", "pages/1/paragraphs/0", "pages/1/paragraphs/1", f"diagrams/{DRAWING_KEY}"):
        await written(results_env, document_id, place, annotations={"at": place})
    new = ExtractedPage(
        1, "New.\n\nAbout an invoice.", ExtractionMethod.TEXT, paragraphs=(Paragraph(0, 4), Paragraph(6, 23))
    )
    await results_env.publish(document_id, [new], version=2)

    pages = await results_env.json(document_id, "pages")
    assert [item["annotations"] for item in pages["items"]] == [{"at": "pages/1"}]
    assert [(item["page_number"], item["annotations"]) for item in pages["stale"]] == [(2, {"at": "pages/2"})]
    paragraphs = await results_env.json(document_id, "paragraphs")
    assert [item["annotations"] for item in paragraphs["items"]] == [None, {"at": "pages/1/paragraphs/1"}]
    assert [item["annotations"] for item in paragraphs["stale"]] == [{"at": "pages/1/paragraphs/0"}]
    assert paragraphs["stale"][0]["stale_at"]
    assert (paragraphs["stale_total"], pages["stale_total"]) == (1, 1)
    (diagram,) = (await results_env.json(document_id, "diagrams"))["items"]
    assert (diagram["key"], diagram["kind"], diagram["stale_at"] is None) == (DRAWING_KEY, None, False)
    assert (await results_env.get(document_id, f"diagrams/{DRAWING_KEY}/image")).status_code == 404
    assert (await results_env.get(document_id, "pages/2")).status_code == 404


async def test_a_stale_annotation_can_be_changed_and_removed(results_env: ResultsFixture) -> None:
    document_id = await results_env.document()
    places = ("pages/2", "pages/1/paragraphs/0", f"diagrams/{DRAWING_KEY}")
    for place in places:
        await written(results_env, document_id, place, annotations=NOTE)
    await results_env.publish(document_id, [ExtractedPage(1, "", ExtractionMethod.NONE)], version=2)
    (stale,) = (await results_env.json(document_id, "paragraphs"))["stale"]
    gone = f"pages/1/paragraphs/{stale['paragraph_index']}"
    assert (await written(results_env, document_id, gone, annotations={"b": 2}))["stale_at"]
    assert (await results_env.json(document_id, "paragraphs"))["stale"][0]["annotations"] == {"b": 2}
    for place in (places[0], gone, places[2]):
        await written(results_env, document_id, place, annotations=None)
    for listing in ("pages", "paragraphs"):
        assert (await results_env.json(document_id, listing))["stale"] == []
    assert (await results_env.json(document_id, "diagrams"))["items"] == []


async def test_stale_annotations_come_in_portions_like_the_list(results_env: ResultsFixture) -> None:
    document_id = await results_env.document(PAGES)
    for place in ("pages/1/paragraphs/0", "pages/1/paragraphs/1", "pages/2/paragraphs/0"):
        await written(results_env, document_id, place, annotations={"at": place})
    await results_env.publish(document_id, [ExtractedPage(1, "", ExtractionMethod.NONE)], version=2)
    portions = [await results_env.json(document_id, f"paragraphs?limit=2&page={page}") for page in (1, 2)]
    assert [[item["annotations"]["at"][:7] for item in body["stale"]] for body in portions] == [
        ["pages/1", "pages/1"],
        ["pages/2"],
    ]
    assert [body["stale_total"] for body in portions] == [3, 3]


async def test_the_database_itself_lets_no_viewer_write(results_env: ResultsFixture) -> None:
    document_id = await results_env.document()
    await written(results_env, document_id, "pages/1/paragraphs/0", annotations=NOTE)
    viewer, database = results_env.colleague("viewer").principal, results_env.api.stores.database
    async with database.work(viewer) as work:
        notes = AnnotationRepository(work.session)
        assert await notes.update_page(document_id, 1, {"annotations": {}}) is None
        assert await notes.update_diagram(document_id, PICTURE_KEY, {}) is None
        assert await notes.update_paragraph(document_id, 1, 0, {}) is None
        assert not await notes.delete_paragraph(document_id, 1, 0)
    new = ArtifactParagraph(id=new_id(), page_number=1, paragraph_index=1, paragraph_text_sha256="0")
    document = Document(id=document_id, organization_id=results_env.owner.organization_id)
    with pytest.raises(Forbidden):
        async with database.work(viewer) as work:
            await AnnotationRepository(work.session).upsert_paragraph(document, new, {})
    assert results_env.seed.rows(PARAGRAPHS) == [(1, 0, NOTE)]
