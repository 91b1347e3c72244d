"""Calibration of an embedding model: how similar it finds unrelated texts, and which languages it knows.

Similarities of different models cannot be compared: one gives 0.1 to unrelated texts, another 0.75. The calibration is
measured once per model (`calibration_measurement`) and stored with its indexing variant
(docs/decisions/0024-relevance-of-meaning.md).
"""

import json
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from muniment.search.embedding.local import LocalEmbedder
from muniment.search.embedding.port import Embedder, normalize

_BUNDLED = files("muniment.search.embedding") / "data" / "minilm" / "calibration.json"


@dataclass(frozen=True)
class ModelCalibration:
    """What similarities of a model mean."""

    background: Sequence[float]
    """Mean vector of the meaningless texts."""
    margin: float
    """How much more similar than the background a passage must be to count."""
    languages: frozenset[str]
    """Languages in which the model tells related texts from unrelated ones, named as text search configurations."""
    measured_languages: frozenset[str]

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "ModelCalibration":
        return ModelCalibration(
            background=stored["background"],
            margin=stored["margin"],
            languages=frozenset(stored["languages"]),
            measured_languages=frozenset(stored["measured_languages"]),
        )

    def as_json(self) -> Mapping[str, Any]:
        return {
            "background": [round(value, 5) for value in self.background],
            "margin": round(self.margin, 4),
            "languages": sorted(self.languages),
            "measured_languages": sorted(self.measured_languages),
        }

    def min_similarity(self, vector: Sequence[float]) -> float:
        """Return the similarity to this vector from which on a passage counts as related.

        It differs between queries: random letters are a little similar to everything, and then more is asked.
        """
        unit = normalize(vector)
        return self.margin + sum(map(operator.mul, unit, self.background)) if unit else self.margin

    def knows(self, language: str) -> bool:
        """Return whether similarities mean something in this language. A model that knows all measured languages is
        multilingual and is trusted with the others."""
        if language in self.measured_languages:
            return language in self.languages
        return self.languages == self.measured_languages


def find_measured(embedder: Embedder) -> ModelCalibration | None:
    """Return the calibration of the bundled model, measured beforehand, and `None` for any other."""
    return _bundled_calibration() if embedder.parameters == LocalEmbedder.parameters else None


@cache
def _bundled_calibration() -> ModelCalibration:
    return ModelCalibration.from_json(json.loads(_BUNDLED.read_text()))
