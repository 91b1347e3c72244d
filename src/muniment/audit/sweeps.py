"""Sealing and signing, chain by chain, as the worker does it."""

from collections.abc import Sequence
from uuid import UUID

import structlog

from muniment.audit.hashes import chain_of, organization_of
from muniment.audit.heads import ChainBroken, Heads
from muniment.audit.sealing import Sealer, SealRepository
from muniment.storage.db.organizations import Waiting, list_organizations, list_waiting
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.telemetry.metrics import AUDIT_CHAINS_BROKEN, AUDIT_UNSEALED_OLDEST_SECONDS

log = structlog.get_logger()


class AuditSweeps:
    def __init__(self, database: Database, sealer: Sealer, heads: Heads) -> None:
        self._database = database
        self._sealer = sealer
        self._heads = heads

    async def seal(self) -> None:
        """Seal what was committed, and tell how long the oldest of it had waited."""
        chains = await list_waiting(self._database, Waiting.EVENTS)
        waiting = [organization_of(chain) for chain in chains]
        waited = [await self._waited_seconds(organization_id) for organization_id in waiting]
        AUDIT_UNSEALED_OLDEST_SECONDS.set(max(waited, default=0))
        for organization_id in waiting:
            await self._sealer.seal(organization_id)

    async def sign(self) -> None:
        """Sign the end of every chain that has grown. One that was tampered with does not keep the others waiting."""
        broken = [chain for chain in await self._chains() if not await self._sign(chain)]
        AUDIT_CHAINS_BROKEN.set(len(broken))

    async def _sign(self, organization_id: UUID | None) -> bool:
        try:
            await self._heads.advance(organization_id)
        except ChainBroken as error:
            log.error("audit.chain_broken", chain=str(chain_of(organization_id)), error=error.message)
            return False
        return True

    async def _waited_seconds(self, organization_id: UUID | None) -> float:
        async with self._database.service_work(Service(organization_id)) as work:
            return await SealRepository(work.session).oldest_unsealed_seconds(chain_of(organization_id))

    async def _chains(self) -> Sequence[UUID | None]:
        return [None, *await list_organizations(self._database)]
