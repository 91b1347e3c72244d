import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from muniment.processing.results.annotation_input import validate_annotation

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=5)
OBJECTS = st.dictionaries(
    st.text(st.characters(codec=None), max_size=3),
    st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3), max_leaves=8),
    max_size=4,
)


def can_be_kept(value: Any) -> bool:
    """Implement PostgreSQL's rules a second time."""
    if isinstance(value, float):
        return value - value == 0 and (value == 0 or -30 < math.log10(abs(value)) < 30)
    if isinstance(value, int):
        return len(str(abs(value))) <= 30
    if isinstance(value, str):
        return not any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in value)
    if isinstance(value, dict):
        return all(can_be_kept(key) and can_be_kept(item) for key, item in value.items())
    return all(map(can_be_kept, value)) if isinstance(value, list) else True


@given(OBJECTS)
def test_exactly_what_can_be_kept_is_let_through(value: dict[str, Any]) -> None:
    try:
        is_let_through = validate_annotation(value) is value
    except ValueError:
        is_let_through = False
    assert is_let_through == can_be_kept(value)
