"""Exclusive lease of the archiver: an object in the queue store that its holder renews.

Anyone may take it once it has expired. It is changed only by conditional writes, which a folder guards with flock and
S3 with If-Match.
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
from muniment.storage.objects.port import JSON_CONTENT_TYPE, ObjectNotFound, VersionedObjectStore

LEASE_KEY = "archiver/lease.json"
LEASE_DURATION = timedelta(minutes=2)
_SAFETY_FRACTION = 0.75
"""Part of the lease that its holder relies on. The rest allows for clocks that differ."""
_MAX_ATTEMPTS = 3


class LeaseHeld(Conflict):
    """Another archiver is running"""


class LeaseLost(Conflict):
    """Another archiver has taken over"""


@dataclass
class Lease:
    """Lease of one archiver. Call `check` before everything that must not happen twice."""

    store: VersionedObjectStore
    clock: Clock
    duration: timedelta
    holder: str
    version: str
    safe_until: datetime
    _renew_lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def check(self) -> None:
        """Verify that we still hold the lease, renewing it if the safe period is over. Raise `LeaseLost` otherwise."""
        async with self._renew_lock:
            if self.clock.now() >= self.safe_until:
                await self._renew()

    async def renew(self) -> None:
        """Renew the lease for its full duration, or raise `LeaseLost`."""
        async with self._renew_lock:  # two concurrent renewals would take each other for another archiver
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
        """Release the lease, so that the next archiver need not wait. A lease that was taken over is left alone."""
        with suppress(Unavailable):
            await self.store.put_if_match(LEASE_KEY, _content(self.holder, self.clock.now()), version=self.version)


@asynccontextmanager
async def hold_lease(
    store: VersionedObjectStore, clock: Clock, *, duration: timedelta = LEASE_DURATION
) -> AsyncIterator[Lease]:
    """Hold the lease during the block and renew it in the background. Raise `LeaseHeld` if another archiver has it."""
    lease = await _acquire(store, clock, duration)
    renewal = asyncio.create_task(_renew_periodically(lease))
    try:
        yield lease
    finally:
        renewal.cancel()
        with suppress(asyncio.CancelledError):
            await renewal
        await lease.release()


async def _renew_periodically(lease: Lease) -> None:
    """Renew the lease in real time, whatever clock the archiver has: an upload takes real time."""
    while True:
        await asyncio.sleep(lease.duration.total_seconds() / 3)
        # A failure shows again at the next `check`, which raises it.
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
    """Write our lease and return its version, or `None` if another archiver was faster. Raise `LeaseHeld` while another
    lease is valid."""
    try:
        current = await store.get_versioned(LEASE_KEY)
    except ObjectNotFound:
        await store.put_if_absent(LEASE_KEY, content, content_type=JSON_CONTENT_TYPE)
        current = await store.get_versioned(LEASE_KEY)
        return current.version if current.data == content else None
    if _expires_at(current.data) > now:
        raise LeaseHeld
    return await store.put_if_match(LEASE_KEY, content, version=current.version)


def _content(holder: str, expires_at: datetime) -> bytes:
    return json.dumps({"holder": holder, "expiresAt": expires_at.astimezone(UTC).isoformat()}).encode()


def _expires_at(data: bytes) -> datetime:
    try:
        return datetime.fromisoformat(json.loads(data)["expiresAt"])
    except (KeyError, TypeError, ValueError):
        return datetime.min.replace(tzinfo=UTC)  # not a lease: anyone may take it
