"""Search by meaning with a calibrated model: a lower limit of similarity, and languages that the model knows."""

from uuid import UUID

import pytest
from psycopg.types.json import Jsonb

from tests.search.conftest import SearchFixture
from tests.search.passages_fixture import MODEL, Passage

RELATED, UNRELATED = {"dog": 1.0}, {"dog": 0.2, "sea": 1.0}


@pytest.fixture
def calibrated(search_env: SearchFixture) -> SearchFixture:
    """The model asks for a similarity of 0.3, and knows English but not German."""
    calibration = {
        "background": [0.0] * MODEL.dimensions,
        "margin": 0.3,
        "languages": ["english"],
        "measured_languages": ["english", "german"],
    }
    search_env.seed.execute("UPDATE indexing_variants SET calibration = %s", Jsonb(calibration))
    return search_env


def document(env: SearchFixture, near: dict[str, float], language: str = "english", text: str = "A text.") -> UUID:
    return env.document(Passage(text, near), language=language)


@pytest.mark.parametrize("mode", ["vector", "hybrid"])
async def test_a_passage_below_the_limit_is_not_found(calibrated: SearchFixture, mode: str) -> None:
    related = document(calibrated, RELATED)
    document(calibrated, UNRELATED)
    assert await calibrated.found("dog", mode=mode) == [(str(related), 0)]


async def test_a_model_that_is_not_calibrated_has_no_limit(search_env: SearchFixture) -> None:
    related, unrelated = document(search_env, RELATED), document(search_env, UNRELATED)
    assert await search_env.found("dog", mode="vector") == [(str(related), 0), (str(unrelated), 0)]


async def test_a_passage_below_the_limit_is_still_found_by_its_words(calibrated: SearchFixture) -> None:
    named = document(calibrated, UNRELATED, text="A dog at the sea.")
    [hit] = (await calibrated.ask("dog"))["items"]
    assert (hit["document_id"], hit["matched"]) == (str(named), "text")


async def test_where_the_model_knows_no_language_hybrid_search_uses_words_alone_and_says_so(
    calibrated: SearchFixture,
) -> None:
    document(calibrated, RELATED, "german")
    named = document(calibrated, UNRELATED, "german", "Der dog.")
    answer = await calibrated.ask("dog")
    assert answer["mode"] == "text"
    assert answer["text_only_languages"] == ["german"]
    assert [item["document_id"] for item in answer["items"]] == [str(named)]


async def test_passages_in_a_language_the_model_knows_are_found_beside_others(calibrated: SearchFixture) -> None:
    document(calibrated, RELATED, "german")
    related = document(calibrated, RELATED)
    answer = await calibrated.ask("dog")
    assert answer["mode"] == "hybrid"
    assert answer["text_only_languages"] == ["german"]
    assert [(item["document_id"], item["matched"]) for item in answer["items"]] == [(str(related), "vector")]


async def test_filters_and_known_languages_apply_together(calibrated: SearchFixture) -> None:
    document(calibrated, RELATED, "german")
    related = document(calibrated, RELATED)
    by_owner = {"uploaded_by": str(calibrated.owner.id), "mode": "vector"}
    assert await calibrated.found("dog", **by_owner) == [(str(related), 0)]


async def test_search_by_meaning_in_an_unknown_language_finds_nothing(calibrated: SearchFixture) -> None:
    document(calibrated, RELATED, "german")
    answer = await calibrated.ask("dog", mode="vector")
    assert (answer["items"], answer["mode"], answer["text_only_languages"]) == ([], "vector", ["german"])


async def test_search_by_words_names_no_languages(calibrated: SearchFixture) -> None:
    document(calibrated, RELATED, "german")
    assert (await calibrated.ask("dog", mode="text"))["text_only_languages"] == []


async def test_similar_documents_have_the_same_limit(calibrated: SearchFixture) -> None:
    asked, related = document(calibrated, RELATED), document(calibrated, RELATED)
    document(calibrated, UNRELATED)
    found = await calibrated.look(asked, "similar")
    assert [item["document_id"] for item in found] == [str(related)]


async def test_documents_in_an_unknown_language_are_similar_to_none(calibrated: SearchFixture) -> None:
    asked = document(calibrated, RELATED)
    document(calibrated, RELATED, "german")
    assert await calibrated.look(asked, "similar") == []
