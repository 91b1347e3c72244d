"""Fakes of the archiver's ports: clock, notifier and content."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from muniment.handover.archiver.clock import Clock
from muniment.handover.archiver.monitoring import Notifier
from muniment.handover.content import ContentSource


class FakeClock(Clock):
    def __init__(self) -> None:
        self.ahead = timedelta(0)
        self.slept: list[float] = []

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.ahead += timedelta(seconds=seconds)
        await asyncio.sleep(0)

    def advance(self, **by: float) -> None:
        self.ahead += timedelta(**by)


@dataclass
class RecordingNotifier(Notifier):
    """Notifier that records the titles of alerts."""

    titles: list[str] = field(default_factory=list)
    is_open: bool = True

    async def send(self, title: str, body: str) -> bool:
        if self.is_open:
            self.titles.append(title)
        return self.is_open


@dataclass(frozen=True)
class BytesContent(ContentSource):
    data: bytes

    async def iter_chunks(self) -> AsyncIterator[bytes]:
        yield self.data
