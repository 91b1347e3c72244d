"""Time, as the archiver asks for it: a day's outage can be lived through in a moment."""

import asyncio
from datetime import UTC, datetime


class Clock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
