"""Time as a port, so that tests can simulate hours of waiting."""

import asyncio
from datetime import UTC, datetime


class Clock:
    """The system clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
