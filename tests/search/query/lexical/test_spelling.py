"""One typing error in a word that no passage has."""

import pytest

from muniment.search.query.lexical.spelling import differs_by_one
from tests.search.conftest import SearchFixture


@pytest.mark.parametrize(
    "typed",
    ["invioce", "invoise", "invoce", "invvoice", "onvoice", "nvoice", "ivnoice", "invocie", "invoicee", "INVOCE"],
)
async def test_a_word_with_one_wrong_letter_is_found_and_highlighted(search_env: SearchFixture, typed: str) -> None:
    right = search_env.document("The chimney invoice.", "A garden.")
    (item,) = (await search_env.ask(f"chimney {typed}", mode="text"))["items"]
    assert item["document_id"] == str(right)
    assert len(item["highlights"]) == 2


@pytest.mark.parametrize("typed", ["chmny", "ivnocie", "rnet", "invoice2"])
async def test_two_errors_short_words_and_codes_are_not_corrected(search_env: SearchFixture, typed: str) -> None:
    search_env.document("The chimney invoice and rent.")
    assert (await search_env.ask(typed, mode="text"))["items"] == []


async def test_a_word_that_occurs_is_not_corrected(search_env: SearchFixture) -> None:
    search_env.document("The contract.")
    other = search_env.document("The contrast.")
    assert await search_env.found("contrast", mode="text") == [(str(other), 0)]


async def test_words_of_others_correct_nothing(search_env: SearchFixture) -> None:
    stranger = search_env.seed.person()
    kb_id = search_env.seed.knowledge_base(stranger)
    search_env.passages_env.add(kb_id, stranger, [])
    search_env.document("A garden.")
    text_id = search_env.seed.one("SELECT artifact_text_id FROM documents WHERE knowledge_base_id = %s", kb_id)
    search_env.seed.execute(
        "UPDATE artifact_lexicons SET vocabulary = ' invoice ' WHERE artifact_text_id = %s", text_id
    )
    assert (await search_env.ask("invioce", mode="text"))["items"] == []


@pytest.mark.parametrize(
    ("first", "second", "is_near"),
    [
        ("invoice", "invoice", False),
        ("invoice", "invoices", True),
        ("invoice", "nvoice", True),
        ("invoice", "inovice", True),
        ("invoice", "inoviec", False),
        ("invoice", "envoise", False),
        ("abcdef", "badcfe", False),
    ],
)
def test_one_letter_is_missing_added_wrong_or_swapped(first: str, second: str, *, is_near: bool) -> None:
    assert differs_by_one(first, second) is is_near
