"""Whether a store keeps its word about conditional writes: two archivers would share a lease on one that does not."""

from uuid import uuid4

from muniment.errors import Unavailable
from muniment.storage.queues.port import QueueStore


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
        raise Unavailable(f"The store `{queue.name}` does not honour If-Match; use another one for the archive queue")
