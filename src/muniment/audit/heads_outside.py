"""The signed heads in the object store, as a check reads them: in order, and only the newest of them whole."""

import json
from collections.abc import AsyncIterator
from uuid import UUID

from muniment.audit.heads import OUTSIDE, Head, outside_key
from muniment.storage.blobs.port import Blobs


class NoHead(Exception):  # an answer, not an error
    """What stands there cannot be read as a head."""


class HeadsOutside:
    """Goes through the keys of one chain once, whatever their number."""

    def __init__(self, blobs: Blobs, chain: UUID) -> None:
        self._blobs = blobs
        self._chain = chain
        self._keys = keys_of(blobs, chain)
        self._at = ""

    async def has(self, seq: int) -> bool:
        """Whether there is one of this number; ask in growing order."""
        wanted = outside_key(self._chain, seq)
        while self._at < wanted and await self._step():
            pass
        return self._at == wanted

    async def newest(self) -> Head | None:
        """The last one, or `NoHead` with its key; nothing can be asked after it."""
        while await self._step():
            pass
        return await self._read(self._at) if self._at else None

    async def _step(self) -> bool:
        key = await anext(self._keys, None)
        self._at = key or self._at
        return key is not None

    async def _read(self, key: str) -> Head:
        try:
            head = Head.from_json(json.loads(await self._blobs.get(key)))
        except (ValueError, KeyError, TypeError):
            raise NoHead(key) from None
        if outside_key(self._chain, head.seq) != key:  # an older one under the name of the newest
            raise NoHead(key)
        return head


async def keys_of(blobs: Blobs, chain: UUID) -> AsyncIterator[str]:
    async for found in blobs.list(f"{OUTSIDE}/{chain}/"):
        yield found.key


async def chains_outside(blobs: Blobs) -> AsyncIterator[UUID]:
    """Of every chain that has a head there; what has no such name is not ours."""
    after = ""
    while key := await _first_behind(blobs, after):
        name = key.removeprefix(f"{OUTSIDE}/").partition("/")[0]
        after = f"{OUTSIDE}/{name}/~"  # behind all digits: one step for each chain, not for each head
        try:
            yield UUID(name)
        except ValueError:
            continue


async def _first_behind(blobs: Blobs, after: str) -> str | None:
    async for found in blobs.list(f"{OUTSIDE}/", after=after):
        return found.key
    return None
