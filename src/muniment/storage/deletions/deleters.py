"""Deleters: each processes the ledger entries of one store."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable
from uuid import UUID

from muniment.errors import Unavailable
from muniment.storage.deletions.tables import LedgerEntry
from muniment.storage.objects.port import ObjectStore


@dataclass(frozen=True)
class DeletionResult:
    """Result of one ledger entry: its object may be retained for others, and may lead to entries for other stores."""

    was_retained: bool = False
    follow_up_ids: Sequence[UUID] = ()


class Deleter(Protocol):
    """Deletes objects from one store."""

    async def delete(self, entry: LedgerEntry) -> DeletionResult:
        """Delete the object of the entry and check that it is gone, or retain it on purpose. A missing object is not an
        error: a process that crashed before it recorded the outcome deletes again."""


@runtime_checkable
class BatchDeleter(Deleter, Protocol):
    """A deleter for which many entries cost little more than one."""

    async def delete_batch(self, entries: Sequence[LedgerEntry]) -> Sequence[DeletionResult]:
        """Delete the objects of all entries, which belong to one organization, and return the results in order. An
        error fails the whole batch."""


class ObjectStillExists(Unavailable):
    """The object still exists after it was deleted"""

    code = "StillThere"


class ObjectDeleter(Deleter):
    """Deletes objects from an object store."""

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects

    async def delete(self, entry: LedgerEntry) -> DeletionResult:
        await self._objects.delete(entry.target)
        if await self._objects.exists(entry.target):
            raise ObjectStillExists
        return DeletionResult()
