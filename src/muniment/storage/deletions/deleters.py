"""Deleters: each carries out the ledger entries of one store."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable
from uuid import UUID

from muniment.errors import Unavailable
from muniment.storage.deletions.tables import LedgerEntry
from muniment.storage.objects.port import ObjectNotFound, ObjectStore


@dataclass(frozen=True)
class DeletionResult:
    """What became of a line: it may have been kept for others, and may have led to lines for other stores."""

    was_retained: bool = False
    follow_up_ids: Sequence[UUID] = ()


class Deleter(Protocol):
    async def delete(self, entry: LedgerEntry) -> DeletionResult:
        """Remove what the line names and look again: returns only when it was seen to be gone, or is kept on purpose.
        What is not there is no error: whoever died before noting the outcome does it again."""


@runtime_checkable
class BatchDeleter(Deleter, Protocol):
    """One for which many lines cost little more than one."""

    async def delete_batch(self, entries: Sequence[LedgerEntry]) -> Sequence[DeletionResult]:
        """The same for all of these lines, of one organization; in their order. All of them, or an error."""


class ObjectStillExists(Unavailable):
    """The object still exists after it was deleted"""

    code = "StillThere"


class ObjectDeleter:
    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects

    async def delete(self, entry: LedgerEntry) -> DeletionResult:
        await self._objects.delete(entry.target)
        try:
            await self._objects.size_bytes(entry.target)
        except ObjectNotFound:
            return DeletionResult()
        raise ObjectStillExists
