"""A share of what is stored, chosen anew each time, that is really read."""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass

from muniment.errors import Invalid

_SHARE = re.compile(r"(\d+(?:\.\d+)?)%")


class NoShare(Invalid):
    """The share to read is a number of percent, such as 5%"""


@dataclass(frozen=True)
class Subset:
    share: float = 0.0
    chance: Callable[[], float] = random.random

    def takes(self) -> bool:
        return self.chance() < self.share


NOTHING = Subset()


def parse_share(typed: str) -> Subset:
    """`5%`, as restic writes it."""
    found = _SHARE.fullmatch(typed.strip())
    if found is None or float(found[1]) > 100:
        raise NoShare
    return Subset(float(found[1]) / 100)
