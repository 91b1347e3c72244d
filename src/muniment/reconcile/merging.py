"""Two listings in the order of their keys, side by side."""

from collections.abc import AsyncIterator, Callable
from typing import TypeVar

Left = TypeVar("Left")
Right = TypeVar("Right")


async def merge(
    left: AsyncIterator[Left],
    right: AsyncIterator[Right],
    *,
    left_key: Callable[[Left], str],
    right_key: Callable[[Right], str],
) -> AsyncIterator[tuple[Left | None, Right | None]]:
    """Pairs of the same key, and what has none on the other side, in constant memory."""
    one, other = await anext(left, None), await anext(right, None)
    while one is not None or other is not None:
        if other is None or (one is not None and left_key(one) < right_key(other)):
            yield one, None
            one = await anext(left, None)
        elif one is None or right_key(other) < left_key(one):
            yield None, other
            other = await anext(right, None)
        else:
            yield one, other
            one, other = await anext(left, None), await anext(right, None)
