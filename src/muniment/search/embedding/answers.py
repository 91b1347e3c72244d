"""What an embedding service answered, believed only after a look. Pure."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, Field, ValidationError

from muniment.search.embedding.port import EmbeddingsRefused, Vector, unit


class _Item(BaseModel):
    index: Annotated[int, Field(ge=0)]
    embedding: list[Annotated[float, Field(allow_inf_nan=False)]]


class _Answer(BaseModel):
    data: list[_Item]


def vectors_of(answer: object, *, count: int, dimensions: int) -> list[Vector]:
    """In the order of the texts, with unit length; `EmbeddingsRefused` with a sentence where anything is wrong."""
    try:
        items = _Answer.model_validate(answer).data
    except ValidationError:
        # Not pydantic's own words: they show parts of the answer.
        raise EmbeddingsRefused("The embedding service's answer has not the form of OpenAI's") from None
    if sorted(item.index for item in items) != list(range(count)):
        raise EmbeddingsRefused(f"The embedding service answered {len(items)} vectors for {count} texts")
    return [_checked(item.embedding, dimensions) for item in sorted(items, key=lambda item: item.index)]


def _checked(embedding: Sequence[float], dimensions: int) -> Vector:
    if len(embedding) != dimensions:
        raise EmbeddingsRefused(
            f"The embedding service's vectors have {len(embedding)} dimensions, and {dimensions} were configured"
        )
    vector = unit(embedding)
    if vector is None:
        raise EmbeddingsRefused("The embedding service answered a vector without a direction")
    return vector
