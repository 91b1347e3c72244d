"""The look that `doctor` and the start take at a store: not only whether it answers, but whether it keeps its word."""

from uuid import uuid4

from muniment.errors import Unavailable
from muniment.storage.blobs.port import Blobs


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
        raise Unavailable(f"The store `{blobs.name}` does not honour conditional writes; use another one")
    if read != written:
        raise Unavailable(f"The store `{blobs.name}` returns other bytes than were written; use another one")
