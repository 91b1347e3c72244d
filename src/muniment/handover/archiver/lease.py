"""Exclusive lease of the archiver: an object in the queue store that its holder renews and that anyone may take once expired.

It is changed only by conditional writes, which a folder guards with flock and S3 with If-Match.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from muniment.errors import Conflict, Unavailable
from muniment.handover.archiver.clock import Clock
from muniment.storage.objects.port import ObjectNotFound, VersionedObjectStore

LEASE_KEY = "archiver/lease.json"
LEASE_DURATION = timedelta(minutes=2)
_SAFETY_FRACTION = 0.75
"""How much of it the holder relies on; what is left is for clocks that differ."""
_MAX_ATTEMPTS = 3


class LeaseHeld(Conflict):
    """Another archiver is running"""


class LeaseLost(Conflict):
    """Another archiver has taken over"""


@dataclass
class Lease:
    """Held by one. `check` before everything that must not happen twice."""

    store: VersionedObjectStore
    clock: Clock
    duration: timedelta
    holder: str
    version: str
    safe_until: datetime
    _renew_lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def check(self) -> None:
        """It is still ours, or `LeaseLost`. Whoever was paused finds that its time is over, and asks the store."""
        async with self._renew_lock:
            if self.clock.now() >= self.safe_until:
                await self._renew()

    async def renew(self) -> None:
        """For its whole length again, or `LeaseLost`."""
        async with self._renew_lock:  # two of ours at once would take each other for a stranger
            await self._renew()

    async def _renew(self) -> None:
        now = self.clock.now()
        version = await self.store.put_if_match(
            LEASE_KEY, _content(self.holder, now + self.duration), version=self.version
        )
        if version is None:
            self.safe_until = now
            raise LeaseLost
        self.version, self.safe_until = version, now + self.duration * _SAFETY_FRACTION

    async def release(self) -> None:
        """For the next one, who need not wait. What was taken over stays with whoever has it."""
        with suppress(Unavailable):
            await self.store.put_if_match(LEASE_KEY, _content(self.holder, self.clock.now()), version=self.version)


@asynccontextmanager
async def hold_lease(
    store: VersionedObjectStore, clock: Clock, *, duration: timedelta = LEASE_DURATION
) -> AsyncIterator[Lease]:
    """For the length of the block, renewed in the meantime; `LeaseHeld` if it is another's."""
    lease = await _acquire(store, clock, duration)
    renewing = asyncio.create_task(_renew_periodically(lease))
    try:
        yield lease
    finally:
        renewing.cancel()
        with suppress(asyncio.CancelledError):
            await renewing
        await lease.release()


async def _renew_periodically(lease: Lease) -> None:
    """Time that an upload takes is real, whatever clock the archiver has."""
    while True:
        await asyncio.sleep(lease.duration.total_seconds() / 3)
        # What fails here fails again at the next `check`, where it is heard.
        with suppress(Unavailable, LeaseLost):
            await lease.renew()


async def _acquire(store: VersionedObjectStore, clock: Clock, duration: timedelta) -> Lease:
    holder = uuid4().hex
    for _ in range(_MAX_ATTEMPTS):
        now = clock.now()
        content = _content(holder, now + duration)
        version = await _try_write(store, content, now)
        if version is not None:
            return Lease(store, clock, duration, holder, version, now + duration * _SAFETY_FRACTION)
    raise LeaseHeld


async def _try_write(store: VersionedObjectStore, content: bytes, now: datetime) -> str | None:
    """The version of our lease; nothing if somebody was faster. `LeaseHeld` while another's is valid."""
    try:
        found = await store.get(LEASE_KEY)
    except ObjectNotFound:
        await store.put_if_absent(LEASE_KEY, content)
        found = await store.get(LEASE_KEY)
        return found.version if found.data == content else None
    if _expires_at(found.data) > now:
        raise LeaseHeld
    return await store.put_if_match(LEASE_KEY, content, version=found.version)


def _content(holder: str, expires_at: datetime) -> bytes:
    return json.dumps({"holder": holder, "expiresAt": expires_at.astimezone(UTC).isoformat()}).encode()


def _expires_at(data: bytes) -> datetime:
    try:
        return datetime.fromisoformat(json.loads(data)["expiresAt"])
    except (KeyError, TypeError, ValueError):
        return datetime.min.replace(tzinfo=UTC)  # nobody's
