"""A clock that a test winds: whoever sleeps is woken at once, and it is later then."""

import asyncio
from datetime import UTC, datetime, timedelta

from muniment.archival.archiver.clock import Clock


class WoundClock(Clock):
    def __init__(self) -> None:
        self.ahead = timedelta(0)
        self.slept: list[float] = []

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.ahead += timedelta(seconds=seconds)
        await asyncio.sleep(0)

    def wind(self, **by: float) -> None:
        self.ahead += timedelta(**by)
