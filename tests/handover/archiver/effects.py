"""Record every external effect of a pass, to crash or pause the archiver after any of them."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from muniment.handover.archiver.archiver import Archiver
from muniment.handover.queue import HandoverStores
from muniment.storage.objects.folder.store import VersionedFolderStore
from muniment.storage.objects.port import ObjectWriter
from tests.support.effects import EffectRecorder, SimulatedCrash

Act = Callable[[int, str], Awaitable[None]]


async def do_nothing(_number: int, _what: str) -> None:
    pass


def crash_after(number: int) -> Act:
    async def act(reached: int, _what: str) -> None:
        # A dead process does nothing more: no clean-up either.
        if reached >= number:
            raise SimulatedCrash

    return act


class PassEffectRecorder(EffectRecorder[str, Awaitable[None]]):
    """Records each effect of a pass just after it happened, before the archiver sees the result."""

    def __init__(self, act: Act = do_nothing) -> None:
        super().__init__(act)

    async def record(self, what: str) -> None:
        await self.add(what)

    def watch(self, archiver: Archiver) -> None:
        """Record every call that changes something in Paperless or through the internal API."""
        for client in (archiver.paperless._transport._client, archiver.api._client):
            client.event_hooks["response"].append(self._answered)
        archiver.paperless._transport._client.event_hooks["request"].append(self._about_to_ask)

    async def _about_to_ask(self, request: httpx.Request) -> None:
        if request.url.path.endswith("/post_document/"):
            await self.record("about to upload")

    async def _answered(self, response: httpx.Response) -> None:
        if response.request.method != "GET":
            await self.record(f"{response.request.method} {response.request.url.path}")


class RecordingQueue(VersionedFolderStore):
    """Folder store that records every change as an effect."""

    def __init__(self, root: Path, effects: PassEffectRecorder) -> None:
        super().__init__(root, sync=lambda _: None)
        self._effects = effects

    @asynccontextmanager
    async def writer(self, key: str, *, content_type: str | None = None) -> AsyncIterator[ObjectWriter]:
        del content_type
        async with super().writer(key) as writer:
            yield writer
        await self._effects.record(f"write {key}")

    async def put_if_absent(self, key: str, data: bytes, *, content_type: str | None = None) -> bool:
        put = await super().put_if_absent(key, data)
        await self._effects.record(f"put {key}")
        return put

    async def put_if_match(self, key: str, data: bytes, *, version: str, content_type: str | None = None) -> str | None:
        put = await super().put_if_match(key, data, version=version)
        await self._effects.record(f"put {key}")
        return put

    async def delete(self, key: str) -> None:
        await super().delete(key)
        await self._effects.record(f"delete {key}")


def record_stores(stores: HandoverStores, effects: PassEffectRecorder) -> HandoverStores:
    """Return stores on the same folders that record their effects."""
    queue, letters = stores.queue, stores.dead_letters
    assert isinstance(queue, VersionedFolderStore)
    assert isinstance(letters, VersionedFolderStore)
    return HandoverStores(RecordingQueue(queue._root, effects), RecordingQueue(letters._root, effects))
