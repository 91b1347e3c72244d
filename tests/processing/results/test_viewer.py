"""What a document shows: pages, paragraphs, diagrams, its text and its summary."""

import pytest

from tests.processing.results.results_fixture import DRAWING_KEY, FIRST, PAGES, PICTURE_KEY, SECOND, ResultsFixture

READS = (
    "pages",
    "pages/1",
    "paragraphs",
    "diagrams",
    "summary",
    "text",
    "pages/1/image",
    f"diagrams/{PICTURE_KEY}/image",
)
NOTHING = {"annotations": None, "flags": None, "stale_at": None}


async def test_pages_are_listed_with_their_numbers_and_without_their_text(results_env: ResultsFixture) -> None:
    body = await results_env.json(await results_env.document(), "pages?limit=2")
    assert {name: body[name] for name in ("total", "page", "limit", "stale", "stale_total")} == {
        "total": 3,
        "page": 1,
        "limit": 2,
        "stale": [],
        "stale_total": 0,
    }
    first = {"page_number": 1, "words": 5, "characters": 33, "method": "text", "confidence": None, "problem": None}
    second = {"page_number": 2, "words": 2, "characters": 14, "method": "ocr", "confidence": 0.93, "problem": None}
    assert body["items"] == [{**item, **NOTHING, "has_annotations": False} for item in (first, second)]


async def test_the_next_page_of_the_list_has_the_rest(results_env: ResultsFixture) -> None:
    body = await results_env.json(await results_env.document(), "pages?limit=2&page=2")
    assert [(item["page_number"], item["problem"]) for item in body["items"]] == [(3, "The page is damaged.")]


async def test_a_page_has_its_text_and_where_each_word_stands(results_env: ResultsFixture) -> None:
    body = await results_env.json(await results_env.document(), "pages/1")
    words = [[0, 8, 72, 72, 100, 84], [9, 14, 104, 72, 150, 84]]
    assert body["layout"] == {"width": 595, "height": 842, "rotation": 0, "words": words}
    assert (body["text"], body["page_number"], body["method"]) == (FIRST, 1, "text")
    assert body.items() >= NOTHING.items()


async def test_a_page_without_layout_or_text_says_so(results_env: ResultsFixture) -> None:
    body = await results_env.json(await results_env.document(), "pages/3")
    assert (body["text"], body["layout"], body["problem"]) == ("", None, "The page is damaged.")


@pytest.mark.parametrize("number", ["0", "4", "-1"])
async def test_a_page_that_is_not_there_is_404(results_env: ResultsFixture, number: str) -> None:
    answer = await results_env.get(await results_env.document(), f"pages/{number}")
    assert (answer.status_code, answer.json()["detail"]) == (404, "Page not found")


async def test_a_number_that_no_column_holds_is_422(results_env: ResultsFixture) -> None:
    document_id = await results_env.document()
    places = (f"pages/{2**31}", f"paragraphs?page_number={2**31}", "diagrams/p1%00/image")
    assert [(await results_env.get(document_id, place)).status_code for place in places] == [422] * 3


async def test_paragraphs_come_in_reading_order_with_text_kind_and_box(results_env: ResultsFixture) -> None:
    body = await results_env.json(await results_env.document(), "paragraphs")
    assert [(item["page_number"], item["paragraph_index"], item["text"], item["kind"]) for item in body["items"]] == [
        (1, 0, "Rechnung Größe", "heading"),
        (1, 1, "About an invoice.", "text"),
        (2, 0, SECOND, "text"),
    ]
    assert [item["box"] for item in body["items"]] == [[72, 72, 200, 84], None, None]
    assert (body["items"][1]["start"], body["items"][1]["end"]) == (16, 33)
    assert body["total"] == 3


async def test_paragraphs_of_one_page_and_in_portions(results_env: ResultsFixture) -> None:
    document_id = await results_env.document()
    of_page = await results_env.json(document_id, "paragraphs?page_number=2")
    last = await results_env.json(document_id, "paragraphs?limit=2&page=2")
    for body, total in ((of_page, 1), (last, 3)):
        assert [item["text"] for item in body["items"]] == [SECOND]
        assert body["total"] == total
    assert (await results_env.json(document_id, "paragraphs?page_number=3"))["items"] == []


async def test_diagrams_have_place_size_and_caption(results_env: ResultsFixture) -> None:
    body = await results_env.json(await results_env.document(), "diagrams")
    assert body["items"][0] == {
        "key": PICTURE_KEY,
        "page_number": 1,
        "kind": "picture",
        "box": [72, 72, 272.13, 222],
        "width_px": 640,
        "height_px": 480,
        "caption": "Figure 1",
        "annotations": None,
        "stale_at": None,
    }
    assert (body["items"][1]["key"], body["items"][1]["box"], body["total"]) == (DRAWING_KEY, None, 2)


async def test_diagrams_of_one_page(results_env: ResultsFixture) -> None:
    body = await results_env.json(await results_env.document(), "diagrams?page_number=2")
    assert [item["key"] for item in body["items"]] == [DRAWING_KEY]


async def test_the_summary_has_the_numbers_and_what_could_not_be_read(results_env: ResultsFixture) -> None:
    document_id = await results_env.document()
    body = await results_env.json(document_id, "summary")
    assert (body["document_id"], body["name"], body["status"]) == (str(document_id), "0.pdf", "completed")
    assert (body["total_pages"], body["total_words"], body["text_extraction_method"]) == (3, 7, "mixed")
    assert body["pages_by_method"] == {"text": 1, "ocr": 1, "none": 1}
    assert body["problems"] == [{"page": 3, "message": "The page is damaged."}]
    assert body["media_type"] == "application/pdf"


async def test_the_text_is_all_pages_with_a_form_feed_after_each(results_env: ResultsFixture) -> None:
    answer = await results_env.get(await results_env.document(), "text")
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.text == f"{FIRST}\f{SECOND}\f\f"


async def test_an_archived_document_still_answers(results_env: ResultsFixture) -> None:
    document_id = await results_env.document(status="archived")
    assert [(await results_env.get(document_id, place)).status_code for place in READS] == [200] * len(READS)


@pytest.mark.parametrize("status", ["pending", "processing", "failed"])
async def test_a_document_that_was_not_read_shows_nothing(results_env: ResultsFixture, status: str) -> None:
    document_id = results_env.unread(status)
    for place in ("pages", "paragraphs", "diagrams"):
        body = await results_env.json(document_id, place)
        assert (body["items"], body["total"]) == ([], 0)
    for place, sentence in (
        ("pages/1", "Page not found"),
        ("pages/1/image", "Page not found"),
        (f"diagrams/{PICTURE_KEY}/image", "Diagram not found"),
        ("summary", "This document has not been processed yet"),
        ("text", "This document has not been processed yet"),
    ):
        answer = await results_env.get(document_id, place)
        assert (answer.status_code, answer.json()["detail"]) == (404, sentence)


@pytest.mark.parametrize("status", ["pending", "processing", "failed"])
async def test_what_a_run_has_saved_is_not_shown_before_it_ends(results_env: ResultsFixture, status: str) -> None:
    document_id = await results_env.document(status=status)
    assert (await results_env.json(document_id, "pages"))["items"] == []
    assert (await results_env.get(document_id, "pages/1")).status_code == 404


async def test_after_a_reread_the_new_result_answers(results_env: ResultsFixture) -> None:
    document_id = await results_env.document()
    await results_env.publish(document_id, PAGES[:1], version=2)
    assert (await results_env.json(document_id, "pages"))["total"] == 1
    assert (await results_env.get(document_id, "text")).text == f"{FIRST}\f"


async def test_every_read_asks_for_the_knowledge_base_of_the_document(results_env: ResultsFixture) -> None:
    document_id = await results_env.document()
    other = results_env.seed.knowledge_base(results_env.owner, "Another")
    for place in READS:
        path = f"/api/v1/knowledge-bases/{other}/documents/{document_id}/{place}"
        assert (await results_env.client.get(path)).status_code == 404, place


@pytest.mark.parametrize(("role", "status"), [("viewer", 200), ("editor", 200), (None, 404)])
async def test_members_read_and_strangers_get_404(results_env: ResultsFixture, role: str | None, status: int) -> None:
    document_id = await results_env.document()
    async with results_env.api.client(results_env.colleague(role)) as client:
        answers = {place: (await client.get(results_env.path(document_id, place))).status_code for place in READS}
    assert answers == dict.fromkeys(READS, status)


async def test_somebody_of_another_organization_gets_404_and_nobody_401(results_env: ResultsFixture) -> None:
    document_id = await results_env.document()
    async with results_env.api.client(results_env.seed.person(is_admin=True, is_operator=True)) as client:
        for place in READS:
            assert (await client.get(results_env.path(document_id, place))).status_code == 404, place
            assert (await results_env.api.anonymous.get(results_env.path(document_id, place))).status_code == 401, place
