"""Passages of one document that say the same are shown once."""

from dataclasses import dataclass, field
from uuid import UUID, uuid4

from muniment.search.query.duplicates import containment, is_repeated, resemblance, shingles
from tests.search.conftest import SearchFixture
from tests.search.passages_fixture import Passage

DOCUMENT = uuid4()
CLAUSE = " ".join(f"word{number}" for number in range(60))


@dataclass(frozen=True)
class Shown:
    text: str
    page_number: int = 1
    chunk_index: int = 0
    document_id: UUID = field(default=DOCUMENT)


def test_texts_are_compared_by_runs_of_three_words() -> None:
    assert shingles("One two, three FOUR.") == {("one", "two", "three"), ("two", "three", "four")}
    assert shingles("One") == {("one",)}
    assert resemblance(shingles("a b c d"), shingles("b c d e")) == 1 / 3
    assert containment(shingles("a b c d"), shingles("a b c d e f")) == 1


def test_a_clause_that_differs_in_a_word_is_repeated_and_one_that_differs_in_many_is_not() -> None:
    clause = Shown(CLAUSE)
    assert is_repeated(clause, "x", Shown(f"7 {CLAUSE}", page_number=9, chunk_index=30), "y")
    other = CLAUSE.replace("word10", "ten").replace("word30", "thirty").replace("word50", "fifty")
    assert not is_repeated(clause, "x", Shown(other), "y")
    assert not is_repeated(clause, "x", Shown(CLAUSE, document_id=uuid4()), "x")


def test_consecutive_passages_that_show_their_common_sentence_are_repeated() -> None:
    first, second = Shown("a b c d e f. g h i", chunk_index=4), Shown("g h i. j k l m n o", chunk_index=5)
    assert is_repeated(first, "g h i", second, "g h i. j k l…")
    assert not is_repeated(first, "a b c d e f. g h i", second, "j k l m n o")
    assert not is_repeated(first, "g h i", Shown("g h i. j k l m n o", chunk_index=6), "g h i. j k l…")
    assert not is_repeated(first, "g h i", Shown("g h i. j k l m n o", chunk_index=5, page_number=2), "g h i. j k l…")


async def test_others_take_the_place_of_repeated_passages(search_env: SearchFixture) -> None:
    clause = f"The dog {CLAUSE}"
    document = search_env.document(
        *(Passage(clause, {"dog": 1.0}, page=page) for page in range(1, 6)),
        Passage("Another dog of the house.", {"dog": 1.0, "sea": 0.1}, page=6),
    )
    copy = search_env.document(Passage(clause, {"dog": 1.0}))

    for mode in ("text", "vector", "hybrid"):
        found = await search_env.found("dog", mode=mode)
        assert sorted(found) == sorted([(str(document), 0), (str(document), 5), (str(copy), 0)]), mode


async def test_a_hit_says_which_half_found_it(search_env: SearchFixture) -> None:
    search_env.document(Passage("The dog sleeps.", {"dog": 1.0}), name="both.pdf")
    search_env.document(Passage("A hound of the neighbours.", {"dog": 1.0}), name="vector.pdf")

    def matched(answer: dict[str, list[dict[str, str]]]) -> dict[str, str]:
        return {item["document_name"]: item["matched"] for item in answer["items"]}

    assert matched(await search_env.ask("dog")) == {"both.pdf": "both", "vector.pdf": "vector"}
    assert matched(await search_env.ask("dog", mode="text")) == {"both.pdf": "text"}
    assert matched(await search_env.ask("dog", mode="vector")) == {"both.pdf": "vector", "vector.pdf": "vector"}
