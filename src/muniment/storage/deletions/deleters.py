"""Deleters: each carries out the ledger entries of one store."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable
from uuid import UUID

from muniment.errors import Unavailable
from muniment.storage.deletions.tables import Deletion
from muniment.storage.objects.port import BlobNotFound, Blobs


@dataclass(frozen=True)
class Erased:
    """What became of a line: it may have been kept for others, and may have led to lines for other stores."""

    was_kept: bool = False
    further_ids: Sequence[UUID] = ()


class Eraser(Protocol):
    async def erase(self, line: Deletion) -> Erased:
        """Remove what the line names and look again: returns only when it was seen to be gone, or is kept on purpose.
        What is not there is no error: whoever died before noting the outcome does it again."""


@runtime_checkable
class ErasesTogether(Eraser, Protocol):
    """One for which many lines cost little more than one."""

    async def erase_together(self, lines: Sequence[Deletion]) -> Sequence[Erased]:
        """The same for all of these lines, of one organization; in their order. All of them, or an error."""


class StillThere(Unavailable):
    """The object still exists after it was deleted"""


class BlobEraser:
    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs

    async def erase(self, line: Deletion) -> Erased:
        await self._blobs.delete(line.target)
        try:
            await self._blobs.size_bytes(line.target)
        except BlobNotFound:
            return Erased()
        raise StillThere
