"""Measure the calibration of an embedding model: it embeds the same fixed texts as every other model.

They are pairs of a question and its answer in several languages, of which each answer is unrelated to all questions but
its own, and meaningless texts in several scripts.
"""

from collections.abc import Mapping, Sequence
from importlib.resources import files
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from muniment.search.embedding.calibration import ModelCalibration
from muniment.search.embedding.port import Embedder

MARGIN_DEVIATIONS = 1.8
"""How far above unrelated texts a similarity must be, in standard deviations. Chosen on the FAQs of Perl, Python and
Debian (benchmarks/retrieval): there one of 200 meaningless queries still finds something, and no answer is lost that
keywords do not find as well."""
MIN_SEPARATION = 0.9
"""How often an answer must be more similar to its question than another answer. A model that does not know the language
guesses: 0.5."""
_TEXTS = files("muniment.search.embedding") / "data" / "calibration"

Vectors = NDArray[np.float64]


async def calibrate(embedder: Embedder) -> ModelCalibration:
    """Measure a model on the fixed texts: 280 short ones."""
    groups = _related_pairs()
    meaningless = (_TEXTS / "meaningless.txt").read_text().splitlines()
    texts = [text for pairs in groups.values() for pair in pairs for text in pair]
    vectors = np.array(await embedder.embed([*meaningless, *texts]))
    background = vectors[: len(meaningless)].mean(axis=0)
    start = len(meaningless)
    unknown, unrelated = set[str](), list[Vectors]()
    for group, pairs in groups.items():
        end = start + 2 * len(pairs)
        related, others = _similarities(vectors[start:end:2], vectors[start + 1 : end : 2], background)
        start = end
        if (related[:, None] > others[None, :]).mean() < MIN_SEPARATION:
            unknown.add(_language(group))
        else:
            unrelated.append(others)
    measured = frozenset(map(_language, groups))
    if not unrelated:  # then the model knows no language, and the margin is never applied
        return ModelCalibration(background.tolist(), 0.0, frozenset(), measured)
    values = np.concatenate(unrelated)
    margin = float(values.mean() + MARGIN_DEVIATIONS * values.std())
    return ModelCalibration(background.tolist(), margin, measured - unknown, measured)


def _similarities(questions: Vectors, answers: Vectors, background: Vectors) -> tuple[Vectors, Vectors]:
    """Return the similarities of the pairs, and of questions to other answers, above that to the background."""
    above = questions @ answers.T - (questions @ background)[:, None]
    is_pair = np.eye(len(questions), dtype=bool)
    return above[is_pair], above[~is_pair]


def _related_pairs() -> Mapping[str, Sequence[tuple[str, str]]]:
    """Return questions with their answers, by language and, where there are several, script or variety."""
    lines = (_TEXTS / "related_pairs.tsv").read_text().splitlines()
    rows = [line.split("\t") for line in lines]
    return {
        group: [(question, answer) for _, question, answer in of_group]
        for group, of_group in groupby(rows, key=lambda row: row[0])
    }


def _language(group: str) -> str:
    return group.partition("/")[0]
