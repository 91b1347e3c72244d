from collections.abc import Sequence
from pathlib import Path

import pytest

from muniment.search.embedding.calibration import ModelCalibration, find_measured
from muniment.search.embedding.calibration_measurement import calibrate
from muniment.search.embedding.local import LocalEmbedder
from tests.search.letter_embedder import LetterEmbedder

NONSENSE = Path(__file__).parents[3] / "benchmarks" / "retrieval" / "data" / "nonsense.tsv"
SUBJECTS = (
    "The tenant may end the lease with three months' notice in writing.",
    "Invoices are payable within thirty days of receipt without deduction.",
    "Before the first use, charge the battery completely and clean the filter.",
)


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return LocalEmbedder(threads=1)


@pytest.fixture
def bundled(embedder: LocalEmbedder) -> ModelCalibration:
    measured = find_measured(embedder)
    assert measured is not None
    return measured


async def test_the_calibration_of_the_bundled_model_is_what_measuring_it_gives(
    embedder: LocalEmbedder, bundled: ModelCalibration
) -> None:
    measured = await calibrate(embedder)
    assert measured.languages == bundled.languages == {"english"}
    assert measured.measured_languages == bundled.measured_languages == {"english", "german", "norwegian", "serbian"}
    assert measured.margin == pytest.approx(bundled.margin, abs=0.01)  # processors round 8-bit weights differently
    assert measured.background == pytest.approx(bundled.background, abs=0.01)


async def test_nonsense_is_not_similar_enough_to_any_text(embedder: LocalEmbedder, bundled: ModelCalibration) -> None:
    nonsense = [line.split("\t")[1] for line in NONSENSE.read_text().splitlines()]
    assert len(nonsense) == len(set(nonsense)) == 200
    passages = await embedder.embed(SUBJECTS)
    similar = [query for query in nonsense[::5] if await _is_similar(embedder, bundled, query, passages)]
    assert similar == []


async def test_a_question_in_other_words_is_similar_enough(embedder: LocalEmbedder, bundled: ModelCalibration) -> None:
    passages = await embedder.embed(SUBJECTS)
    assert await _is_similar(embedder, bundled, "How can I move out of my flat?", passages)
    assert await _is_similar(embedder, bundled, "When must a bill be paid?", passages)
    assert await _is_similar(embedder, bundled, "how to prepare a new device", passages)


async def _is_similar(
    embedder: LocalEmbedder, calibration: ModelCalibration, query: str, passages: Sequence[Sequence[float]]
) -> bool:
    vector = await embedder.embed_query(query)
    best = max(sum(a * b for a, b in zip(vector, passage, strict=True)) for passage in passages)
    return best >= calibration.min_similarity(vector)


async def test_a_model_that_does_not_understand_texts_knows_no_language() -> None:
    measured = await calibrate(LetterEmbedder())
    assert not measured.languages
    assert not measured.knows("english")
    assert not measured.knows("french")


def test_only_the_bundled_model_is_measured_beforehand() -> None:
    assert find_measured(LetterEmbedder()) is None


def test_a_calibration_is_stored_and_read_without_loss(bundled: ModelCalibration) -> None:
    assert ModelCalibration.from_json(bundled.as_json()) == bundled


def test_the_limit_rises_with_the_similarity_to_meaningless_texts() -> None:
    calibration = ModelCalibration([0.3, 0.0], 0.2, frozenset({"english"}), frozenset({"english"}))
    assert calibration.min_similarity([2.0, 0.0]) == pytest.approx(0.5)
    assert calibration.min_similarity([0.0, 2.0]) == pytest.approx(0.2)
    assert calibration.min_similarity([0.0, 0.0]) == pytest.approx(0.2)


def test_a_model_that_knows_all_measured_languages_is_trusted_with_the_others() -> None:
    measured = frozenset({"english", "german"})
    multilingual = ModelCalibration([1.0], 0.2, measured, measured)
    english = ModelCalibration([1.0], 0.2, frozenset({"english"}), measured)
    assert multilingual.knows("french")
    assert multilingual.knows("simple")
    assert english.knows("english")
    assert not english.knows("german")
    assert not english.knows("french")
