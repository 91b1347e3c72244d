"""Search within one document, with positions on its pages."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.search.conftest import SearchFixture
from tests.search.passages_fixture import Passage
from tests.support.log_lines import Lines, capture_logs

FIRST = "Payment terms. Invoices are paid within thirty days."
THIRD = "The last invoice was paid late."


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Iterator[Lines]:
    with capture_logs(capsys) as read:
        yield read


def box(text: str, word: str, page: int) -> list[float]:
    start = text.index(word)
    return [start * 10.0, 100.0 * page, (start + len(word)) * 10.0, 100.0 * page + 12]


def a_document(search_env: SearchFixture) -> Any:
    cut = FIRST.index("Invoices")
    passages = [
        Passage(FIRST[:cut], page=1),
        Passage(FIRST[cut:], page=1, start=cut),
        Passage("Nothing here.", page=2),
        Passage(THIRD, page=3),
    ]
    document_id = search_env.document(*passages)
    for page, text in ((1, FIRST), (2, "Nothing here."), (3, THIRD)):
        search_env.passages_env.layout(document_id, page, text)
    return document_id


async def test_pages_come_in_their_order_with_the_boxes_of_the_words(search_env: SearchFixture) -> None:
    document_id = a_document(search_env)

    first, third = await search_env.look(document_id, "search", q="invoice")

    assert (first["page"], third["page"]) == (1, 3)
    assert first["boxes"] == [box(FIRST, "Invoices", 1)]
    assert third["boxes"] == [box(THIRD, "invoice", 3)]
    assert [first["snippet"][start:end] for start, end in first["highlights"]] == ["Invoices"]
    assert [FIRST[start:end] for start, end in first["spans"]] == ["Invoices"]
    assert [THIRD[start:end] for start, end in third["spans"]] == ["invoice"]


async def test_a_part_of_a_word_is_found_whatever_its_case(search_env: SearchFixture) -> None:
    document_id = a_document(search_env)

    assert [item["page"] for item in await search_env.look(document_id, "search", q="VOIC")] == [1, 3]
    (only,) = await search_env.look(document_id, "search", q="thir ays")
    assert only["boxes"] == [box(FIRST, "thirty", 1), box(FIRST, "days.", 1)]
    for q in ("%", "_", "voi%es", "v_ic", "\\"):
        assert await search_env.look(document_id, "search", q=q) == []


async def test_every_word_must_be_there_and_no_excluded_one(search_env: SearchFixture) -> None:
    document_id = a_document(search_env)

    assert [item["page"] for item in await search_env.look(document_id, "search", q="paid late")] == [3]
    assert [item["page"] for item in await search_env.look(document_id, "search", q="paid -late")] == [1]
    assert [item["page"] for item in await search_env.look(document_id, "search", q='"last invoice"')] == [3]
    assert await search_env.look(document_id, "search", q="-late") == []


async def test_other_documents_are_not_looked_into(search_env: SearchFixture) -> None:
    document_id = a_document(search_env)
    search_env.document("An invoice of another document.")
    assert [item["page"] for item in await search_env.look(document_id, "search", q="invoice")] == [1, 3]
    assert len(await search_env.look(document_id, "search", q="invoice", limit=1)) == 1


async def test_without_a_layout_the_page_is_still_named(search_env: SearchFixture) -> None:
    document_id = search_env.document("An invoice.")
    assert [(item["page"], item["boxes"]) for item in await search_env.look(document_id, "search", q="invoice")] == [
        (1, [])
    ]


async def test_an_archived_document_shows_nothing(search_env: SearchFixture) -> None:
    document_id = a_document(search_env)
    search_env.passages_env.set_status(document_id, "archived")
    assert await search_env.look(document_id, "search", q="invoice") == []


async def test_each_look_is_noted_without_what_was_asked(search_env: SearchFixture, lines: Lines) -> None:
    document_id = a_document(search_env)
    lines()
    await search_env.look(document_id, "search", q="thirty")

    written = lines()
    (noted,) = [line for line in written if line["event"] == "artifacts.read"]
    assert (noted["user_id"], noted["document_id"]) == (str(search_env.owner.id), str(document_id))
    assert noted["kind"] == "search"
    assert "thirty" not in str(written)


@pytest.mark.parametrize("q", ["", "  ", "x" * 1001, "a\0"])
async def test_what_cannot_be_asked_is_422(search_env: SearchFixture, q: str) -> None:
    document_id = search_env.document("x")
    assert (await search_env.client.get(search_env.path(document_id, "search"), params={"q": q})).status_code == 422
