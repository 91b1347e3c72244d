"""Small chunks become pieces that are worth a thread or a request."""

from collections.abc import Awaitable, Callable

from muniment.storage.blobs.port import BlobWriter

_PIECE_BYTES = 1024 * 1024


class GatheringWriter(BlobWriter):
    """Hands on pieces of about 1 MiB; `flush` hands on the rest."""

    def __init__(self, hand_on: Callable[[bytearray], Awaitable[None]]) -> None:
        self._hand_on = hand_on
        self._gathered = bytearray()

    async def write(self, chunk: bytes) -> None:
        self._gathered += chunk
        if len(self._gathered) >= _PIECE_BYTES:
            await self.flush()

    async def flush(self) -> None:
        gathered, self._gathered = self._gathered, bytearray()
        await self._hand_on(gathered)
