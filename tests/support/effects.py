"""Record the external effects of a process one by one, so that a test can pause or crash it at any of them."""

from collections.abc import Callable
from typing import Generic, TypeVar

EffectT = TypeVar("EffectT")
ResultT = TypeVar("ResultT")


class SimulatedCrash(BaseException):
    """Simulated end of the process. Nothing in the source catches it."""


class EffectRecorder(Generic[EffectT, ResultT]):
    """Records each effect and calls `act` with its number and the effect.

    `act` returns None, or an awaitable where the effects are asynchronous.
    """

    def __init__(self, act: Callable[[int, EffectT], ResultT]) -> None:
        self.recorded: list[EffectT] = []
        self._act = act

    def add(self, effect: EffectT) -> ResultT:
        self.recorded.append(effect)
        return self._act(len(self.recorded) - 1, effect)
