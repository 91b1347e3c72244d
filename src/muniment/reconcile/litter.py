"""Objects that nobody names: they become lines of the ledger, and are never deleted directly."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from muniment.reconcile.drift import Drift, Scope
from muniment.reconcile.file_repository import NamedFileRepository
from muniment.storage.blobs.port import BlobNotFound, Blobs
from muniment.storage.db.organizations import list_organizations
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.storage.deletions.ledger import DeletionRepository, Ledger, Line
from muniment.storage.deletions.tables import Store as Kept

REASON = "reconciled"


@dataclass(frozen=True)
class Litter:
    database: Database
    blobs: Blobs
    ledger: Ledger
    of_all: bool = False
    """Whether the objects may belong to any organization, and all must be asked."""

    async def confirm(self, scope: Scope, seen: Sequence[Drift]) -> Sequence[Drift]:
        known = await self._known(scope, [drift.target for drift in seen])
        # The object last: a line of the ledger is done after it is gone.
        return [drift for drift in seen if drift.target not in known and await self._is_there(drift.target)]

    async def write_off(self, scope: Scope, drift: Drift) -> bool:
        """A key is as fresh as its object: once nobody knows it, nobody can take it into use any more."""
        if await self._known(scope, [drift.target]):
            return False
        async with self.database.service_work(scope.service) as work:
            if await NamedFileRepository(work.session).list_known([drift.target]):
                return False
            line = Line(scope.organization_id, None, None, Kept.BLOBS, drift.target, REASON)
            line_ids = await DeletionRepository(work.session).add([line])
        await self.ledger.carry_out(scope.organization_id, line_ids)
        return True

    async def _known(self, scope: Scope, keys: Sequence[str]) -> set[str]:
        known = set[str]()
        for organization_id in await self._organizations(scope) if keys else ():
            async with self.database.service_work(Service(organization_id)) as work:
                known |= await NamedFileRepository(work.session).list_known(keys)
        return known

    async def _organizations(self, scope: Scope) -> Sequence[UUID]:
        return await list_organizations(self.database) if self.of_all else [scope.organization_id]

    async def _is_there(self, key: str) -> bool:
        try:
            await self.blobs.size_bytes(key)
        except BlobNotFound:
            return False
        return True
