"""Port of the embedding models, which turn texts of similar meaning into vectors close to each other."""

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
    """An embedding model. Vectors have unit length, are finite, and come in the order of the texts.

    `EmbeddingsUnavailable` means that trying again later may help; `EmbeddingsRefused` that it will not. Neither
    message, nor any log line, contains a text or a key. May be called from several tasks at once.
    """

    @property
    def model(self) -> str:
        """Name under which vectors are stored and compared."""

    @property
    def dimensions(self) -> int: ...

    @property
    def max_tokens(self) -> int:
        """Number of tokens the model reads, without special ones; the rest of a text is ignored."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Return everything that changes a vector. Vectors with different parameters cannot be compared."""

    def count_tokens(self, text: str) -> int:
        """Count tokens without special ones, never fewer than the model does. Texts joined by a space add up."""

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Embed passages for indexing."""

    async def embed_query(self, text: str) -> Vector:
        """Embed a query."""

    async def close(self) -> None:
        """Release threads and connections. The model must not be used afterwards."""


def normalize(vector: Sequence[float]) -> Vector | None:
    """Scale a vector to unit length; return `None` if it is zero or not finite."""
    length = math.sqrt(math.fsum(value * value for value in vector))
    if not math.isfinite(length) or length == 0:
        return None
    return [value / length for value in vector]
