"""Validate annotations: any JSON object within limits. The limits are part of the API."""

import json
import math
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

MAX_ANNOTATION_BYTES = 64 * 1024
MAX_DEPTH = 10
MAX_DIGITS = 30
_MAX_NUMBER: int = 10**MAX_DIGITS


def validate_annotation(value: dict[str, Any]) -> dict[str, Any]:
    """Return the value, or raise `ValueError` if it exceeds a limit or PostgreSQL cannot store it."""
    if _is_nested_deeper(value, MAX_DEPTH):
        raise ValueError(f"must not be nested deeper than {MAX_DEPTH} levels")
    if not all(map(_is_storable_number, _numbers(value))):
        raise ValueError(f"must contain numbers with at most {MAX_DIGITS} digits before and after the decimal point")
    try:
        # UTF-8 cannot encode half of a surrogate pair, and JSON has no NaN and no infinity, although Python reads them.
        encoded = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except ValueError:
        raise ValueError("must be valid JSON with valid Unicode and finite numbers") from None
    if len(encoded) > MAX_ANNOTATION_BYTES:
        raise ValueError(f"must have at most {MAX_ANNOTATION_BYTES} bytes")
    if b"\\u0000" in encoded.replace(b"\\\\", b""):
        raise ValueError("must not contain NUL characters")
    return value


def _numbers(value: Any) -> Iterator[int | float]:
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _numbers(item)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value


def _is_storable_number(number: float) -> bool:
    """Return whether the number has few enough digits. PostgreSQL writes all of them: 1e308 is returned with 309."""
    if isinstance(number, int):
        return abs(number) < _MAX_NUMBER
    return number == 0 or not math.isfinite(number) or 1 / _MAX_NUMBER < abs(number) < _MAX_NUMBER


def _is_nested_deeper(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_nested_deeper(item, levels - 1) for item in inner)


AnnotationJson = Annotated[
    dict[str, Any],
    AfterValidator(validate_annotation),
    Field(description=f"Any object of at most {MAX_ANNOTATION_BYTES} bytes and {MAX_DEPTH} levels. Null removes it"),
]


class AnnotationPatch(BaseModel):
    model_config = ConfigDict(extra="forbid")

    annotations: AnnotationJson | None


class PagePatch(BaseModel):
    """Omitted fields stay unchanged."""

    model_config = ConfigDict(extra="forbid")

    annotations: AnnotationJson | None = None
    flags: AnnotationJson | None = None

    @model_validator(mode="after")
    def _changes_something(self) -> "PagePatch":
        if not self.model_fields_set:
            raise ValueError("must contain `annotations` or `flags`")
        return self

    def changes(self) -> dict[str, dict[str, Any] | None]:
        return {name: getattr(self, name) for name in self.model_fields_set}
