"""How often one person may ask for something costly. Counted in the database: one count for all processes."""

from datetime import timedelta

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession


class RateRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def admit(self, operation: str, *, most: int, within: timedelta) -> int:
        """0, and this time is noted, if the caller asked less than `most` times lately; else the seconds to wait."""
        statement = text("SELECT admit_request(:operation, :most, :within)")
        wait = await self._session.scalar(statement, {"operation": operation, "most": most, "within": within})
        return int(wait or 0)
