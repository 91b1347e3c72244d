"""Rules for keys, the same for every store, and probes that check whether a store honours the contract."""

import re
from uuid import uuid4

from muniment.errors import Unavailable
from muniment.storage.objects.port import Blobs, QueueStore

_MAX_KEY_BYTES = 1024


_PART = re.compile(r"(?!\.)[ -\[\]-~]{1,255}")


def parts_of(key: str) -> list[str]:
    """The parts of a key, or `ValueError` if it breaks the rules in `Blobs`."""
    parts = key.split("/")
    if len(key) > _MAX_KEY_BYTES or not all(_PART.fullmatch(part) for part in parts):
        raise ValueError(f"not a key: {key!r}")
    return parts


def is_part(name: str) -> bool:
    """Whether a key may have this part."""
    return "/" not in name and _PART.fullmatch(name) is not None


def check_listing(prefix: str, after: str) -> None:
    """`ValueError` unless a key may begin with `prefix` and `after` is a key; both may be empty."""
    if prefix:
        parts_of(prefix.removesuffix("/"))
    if after:
        parts_of(after)


def check_range(start: int, end: int | None) -> None:
    if start < 0 or (end is not None and end < start):
        raise ValueError(f"not a range of bytes: {start} to {end}")


async def probe_object_store(blobs: Blobs) -> None:
    """Write, read and delete an object, with the errors of the store, or `Unavailable` if it breaks the contract."""
    key = f"probe/{uuid4()}"
    written = key.encode()
    first = await blobs.put_if_absent(key, written)
    try:
        second = await blobs.put_if_absent(key, b"overwritten")
        read = await blobs.get(key)
    finally:
        await blobs.delete(key)
    if (first, second) != (True, False):
        raise Unavailable(f"The store `{blobs.name}` does not support conditional writes. Use another store")
    if read != written:
        raise Unavailable(f"The store `{blobs.name}` returned different bytes than were written. Use another store")


async def probe_versioned_store(queue: QueueStore) -> None:
    """Write, change and delete an object, or `Unavailable` if the store breaks the contract."""
    key = f"probe/{uuid4()}"
    await queue.put_new(key, b"{}")
    try:
        first = (await queue.get(key)).version
        second = await queue.put_if(key, b"[]", version=first)
        late = await queue.put_if(key, b"0", version=first)
    finally:
        await queue.delete(key)
    if second is None or late is not None:
        raise Unavailable(
            f"The store `{queue.name}` does not support If-Match. Use another store for the Paperless queue"
        )
