"""Record every external effect of a pass, to crash or pause the archiver after any of them."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from muniment.handover.archiver.archiver import Archiver
from muniment.handover.queue import ArchiveStores
from muniment.storage.objects.folder.store import FolderQueue
from muniment.storage.objects.port import BlobWriter

Act = Callable[[int, str], Awaitable[None]]


class Death(BaseException):
    """The end of the process, as far as its insides can tell: nothing in the source catches it."""


async def do_nothing(_number: int, _what: str) -> None:
    pass


def die_after(number: int) -> Act:
    async def act(reached: int, _what: str) -> None:
        # The dead do nothing any more: no cleaning up on the way out either.
        if reached >= number:
            raise Death

    return act


class Effects:
    """Notes each effect just after it happened, before the archiver knows, and acts on it."""

    def __init__(self, act: Act = do_nothing) -> None:
        self.reached: list[str] = []
        self._act = act

    async def reach(self, what: str) -> None:
        self.reached.append(what)
        await self._act(len(self.reached) - 1, what)

    def watch(self, archiver: Archiver) -> None:
        """Every call that changes something in Paperless or behind the internal API."""
        for client in (archiver.paperless._connection._client, archiver.api._client):
            client.event_hooks["response"].append(self._answered)
        archiver.paperless._connection._client.event_hooks["request"].append(self._about_to_ask)

    async def _about_to_ask(self, request: httpx.Request) -> None:
        if request.url.path.endswith("/post_document/"):
            await self.reach("about to upload")

    async def _answered(self, response: httpx.Response) -> None:
        if response.request.method != "GET":
            await self.reach(f"{response.request.method} {response.request.url.path}")


class WatchedQueue(FolderQueue):
    """A folder whose every change is an effect."""

    def __init__(self, root: Path, effects: Effects) -> None:
        super().__init__(root, sync=lambda _: None)
        self._effects = effects

    @asynccontextmanager
    async def writer(self, key: str, *, content_type: str = "") -> AsyncIterator[BlobWriter]:
        del content_type
        async with super().writer(key) as writer:
            yield writer
        await self._effects.reach(f"write {key}")

    async def put_new(self, key: str, data: bytes, *, content_type: str = "") -> bool:
        put = await super().put_new(key, data)
        await self._effects.reach(f"put {key}")
        return put

    async def put_if(self, key: str, data: bytes, *, version: str, content_type: str = "") -> str | None:
        put = await super().put_if(key, data, version=version)
        await self._effects.reach(f"put {key}")
        return put

    async def delete(self, key: str) -> None:
        await super().delete(key)
        await self._effects.reach(f"delete {key}")


def watched_stores(stores: ArchiveStores, effects: Effects) -> ArchiveStores:
    """The same folders."""
    queue, letters = stores.queue, stores.dead_letters
    assert isinstance(queue, FolderQueue)
    assert isinstance(letters, FolderQueue)
    return ArchiveStores(WatchedQueue(queue._root, effects), WatchedQueue(letters._root, effects))
