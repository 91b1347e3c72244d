"""Who is told: each condition once, when it begins, not with every pass. What was told is kept beside the queue."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

import structlog

from muniment.archival.archiver.clock import Clock
from muniment.archival.stores import QueueStore
from muniment.errors import MunimentError
from muniment.storage.blobs.port import BlobNotFound

log = structlog.get_logger()

KEY = "archiver/alerts.json"
DEEP, DEEP_FOR = 500, timedelta(minutes=15)
MANY_FAILURES, MANY_WITHIN = 5, timedelta(hours=1)


@dataclass(frozen=True)
class Alert:
    name: str
    severity: str
    """`P1` or `P2`, as specs/archive-queue.md §9.2 has them."""
    message: str
    is_news: bool = False
    """Told although the condition was there before: there is more of it."""


class Notifier(Protocol):
    async def send(self, title: str, body: str) -> bool:
        """Whether everybody who is to know was reached."""


@dataclass
class Memory:
    told: dict[str, str] = field(default_factory=dict)
    deep_since: datetime | None = None
    failed_at: list[datetime] = field(default_factory=list)

    @classmethod
    def read(cls, data: bytes) -> "Memory":
        try:
            found = json.loads(data)
            deep = found["deepSince"]
            return cls(
                dict(found["told"]),
                datetime.fromisoformat(deep) if deep else None,
                [datetime.fromisoformat(time) for time in found["failedAt"]],
            )
        except (KeyError, TypeError, ValueError):
            return cls()  # then it is told once more

    def to_bytes(self) -> bytes:
        deep = self.deep_since.astimezone(UTC).isoformat() if self.deep_since else None
        failed = [time.isoformat() for time in self.failed_at]
        kept: dict[str, Any] = {"told": self.told, "deepSince": deep, "failedAt": failed}
        return json.dumps(kept).encode()


@dataclass
class Alerts:
    store: QueueStore
    notifier: Notifier
    clock: Clock

    async def settle(self, conditions: Sequence[Alert], *, depth: int | None, failures: int) -> None:
        """Tell what is new among what is so now, and forget what is over. Without `depth` nothing was measured."""
        try:
            memory = await self._load()
            now = self.clock.now()
            standing = [*conditions, *self._over_time(memory, now, depth, failures)]
            await self._tell(memory, standing, now, is_complete=depth is not None)
            await self._save(memory)
        except MunimentError as error:
            log.error("archive.alerts_failed", error=error.message)

    async def _tell(self, memory: Memory, standing: Sequence[Alert], now: datetime, *, is_complete: bool) -> None:
        for alert in standing:
            if alert.is_news or alert.name not in memory.told:
                log.error("archive.alert", severity="ERROR", name=alert.name, priority=alert.severity)
                if await self.notifier.send(f"{alert.severity} Muniment archiver: {alert.name}", alert.message):
                    memory.told[alert.name] = now.isoformat()
        if is_complete:
            names = {alert.name for alert in standing}
            memory.told = {name: at for name, at in memory.told.items() if name in names}

    def _over_time(self, memory: Memory, now: datetime, depth: int | None, failures: int) -> list[Alert]:
        """What is a matter for an alert only when it lasts."""
        if depth is not None:
            memory.deep_since = (memory.deep_since or now) if depth > DEEP else None
        memory.failed_at = [time for time in memory.failed_at if now - time < MANY_WITHIN]
        memory.failed_at = (memory.failed_at + [now] * failures)[-2 * MANY_FAILURES :]
        found = []
        if memory.deep_since and now - memory.deep_since >= DEEP_FOR:
            found.append(Alert("queue-deep", "P2", f"More than {DEEP} documents have been waiting for 15 minutes."))
        if len(memory.failed_at) > MANY_FAILURES:
            found.append(Alert("many-failures", "P2", "Many documents could not be archived within the last hour."))
        return found

    async def _load(self) -> Memory:
        try:
            return Memory.read((await self.store.get(KEY)).data)
        except BlobNotFound:
            return Memory()

    async def _save(self, memory: Memory) -> None:
        async with self.store.writer(KEY, content_type="application/json") as writer:
            await writer.write(memory.to_bytes())
