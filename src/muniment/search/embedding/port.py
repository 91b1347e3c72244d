"""What turns text into vectors, so that what means the same lies near to each other."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from muniment.errors import MunimentError, Unavailable

Vector = list[float]


class EmbeddingsUnavailable(Unavailable):
    """The embedding service is not responding. Try again shortly"""


class EmbeddingsRefused(MunimentError):
    """The embedding service rejected the request or returned an invalid response. Contact your operator"""


class Embedder(Protocol):
    """One model. Vectors have unit length, are finite, and come in the order of the texts.

    `EmbeddingsUnavailable` means that trying again later may help; `EmbeddingsRefused` that it will not. Neither
    message, nor any log line, contains a text or a key. May be called from several tasks at once.
    """

    @property
    def model(self) -> str:
        """A name under which vectors are kept and compared."""

    @property
    def dimensions(self) -> int: ...

    @property
    def max_tokens(self) -> int:
        """How many tokens of a text are taken in, the special ones not counted; what lies behind them is ignored."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Everything that changes a vector. Where it differs, vectors cannot be compared."""

    def count_tokens(self, text: str) -> int:
        """Without special tokens; never fewer than the model will count. Texts joined by a blank add up."""

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Of passages that are to be found."""

    async def embed_query(self, text: str) -> Vector:
        """Of what somebody looks for."""

    async def close(self) -> None:
        """Let go of threads and connections. Nothing may be asked afterwards."""


def normalize(vector: Sequence[float]) -> Vector | None:
    """The same direction with length 1; `None` where there is none: all zero, or not finite."""
    length = math.sqrt(math.fsum(value * value for value in vector))
    if not math.isfinite(length) or length == 0:
        return None
    return [value / length for value in vector]
