"""The two stores that the API and the archiver share (specs/archive-queue.md §2)."""

from dataclasses import dataclass

from muniment.storage.queues.port import QueueStore


@dataclass(frozen=True)
class ArchiveStores:
    queue: QueueStore
    dead_letters: QueueStore

    async def close(self) -> None:
        await self.queue.close()
        await self.dead_letters.close()
