"""Rules for keys, which are the same in every store, and probes that check whether a store meets the contract."""

import re
from uuid import uuid4

from muniment.errors import Unavailable
from muniment.storage.objects.port import ObjectStore, VersionedObjectStore

_MAX_KEY_BYTES = 1024
_PART = re.compile(r"(?!\.)[ -\[\]-~]{1,255}")


def split_key(key: str) -> list[str]:
    """Return the parts of a key, or raise `ValueError` if it breaks the rules of `ObjectStore`."""
    parts = key.split("/")
    if len(key) > _MAX_KEY_BYTES or not all(_PART.fullmatch(part) for part in parts):
        raise ValueError(f"not a key: {key!r}")
    return parts


def is_key_part(name: str) -> bool:
    """Return whether `name` is a valid part of a key."""
    return "/" not in name and _PART.fullmatch(name) is not None


def validate_listing(prefix: str, after: str) -> None:
    """Raise `ValueError` unless `prefix` can begin a key and `after` is a key. Both may be empty."""
    if prefix:
        split_key(prefix.removesuffix("/"))
    if after:
        split_key(after)


def validate_range(start: int, end: int | None) -> None:
    """Raise `ValueError` for a negative or reversed range."""
    if start < 0 or (end is not None and end < start):
        raise ValueError(f"not a range of bytes: {start} to {end}")


async def probe_object_store(store: ObjectStore) -> None:
    """Write, read and delete an object. Raise `Unavailable` if the store breaks the contract."""
    key = f"probe/{uuid4()}"
    written = key.encode()
    first = await store.put_if_absent(key, written)
    try:
        second = await store.put_if_absent(key, b"overwritten")
        read = await store.get(key)
    finally:
        await store.delete(key)
    if (first, second) != (True, False):
        raise Unavailable(f"The store `{store.name}` does not support conditional writes. Use another store")
    if read != written:
        raise Unavailable(f"The store `{store.name}` returned different bytes than were written. Use another store")


async def probe_versioned_store(store: VersionedObjectStore) -> None:
    """Write, change and delete an object. Raise `Unavailable` if the store ignores the version."""
    key = f"probe/{uuid4()}"
    await store.put_if_absent(key, b"{}")
    try:
        first = (await store.get_versioned(key)).version
        second = await store.put_if_match(key, b"[]", version=first)
        late = await store.put_if_match(key, b"0", version=first)
    finally:
        await store.delete(key)
    if second is None or late is not None:
        raise Unavailable(
            f"The store `{store.name}` does not support If-Match. Use another store for the Paperless queue"
        )
