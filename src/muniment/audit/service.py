"""Verify and export the audit log and list its keys for the API; seal and sign its chains for the worker."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from uuid import UUID

import structlog

from muniment.audit.export.writer import TrailExport
from muniment.audit.hashing import chain_of, organization_of
from muniment.audit.heads import ChainBroken, HeadSigner
from muniment.audit.keys import KeyRepository, PublicKey
from muniment.audit.repository import EventFilter
from muniment.audit.sealing import Sealer, SealRepository
from muniment.audit.signing import Signer
from muniment.audit.verification import Verdict, Verification
from muniment.errors import Forbidden
from muniment.storage.db.principal import Principal, Service
from muniment.storage.db.work import Database, PendingWork, list_organizations, list_organizations_with
from muniment.telemetry.metrics import AUDIT_CHAINS_BROKEN, AUDIT_UNSEALED_OLDEST_SECONDS


class AuditService:
    def __init__(self, database: Database, sealer: Sealer, heads: HeadSigner, verification: Verification) -> None:
        self._database = database
        self._sealer = sealer
        self._heads = heads
        self._verification = verification

    @property
    def signer(self) -> Signer:
        return self._sealer.signer

    async def verify(self, principal: Principal, *, is_installation: bool) -> Verdict:
        """Verify the organization's chain for an admin, or the installation's for an operator."""
        if not (principal.is_operator if is_installation else principal.is_admin):
            raise Forbidden
        return await self._verification.verify(None if is_installation else principal.organization_id)

    def export_json_lines(self, principal: Principal, event_filter: EventFilter, at: datetime) -> AsyncIterator[bytes]:
        return TrailExport(self._database, self._sealer, self._heads, principal, event_filter).json_lines(at)

    def export_csv(self, principal: Principal, event_filter: EventFilter) -> AsyncIterator[bytes]:
        return TrailExport(self._database, self._sealer, self._heads, principal, event_filter).csv()

    async def list_keys(self, principal: Principal) -> Sequence[PublicKey]:
        """Return the signing keys, for any signed-in user."""
        async with self._database.work(principal) as work:
            return await KeyRepository(work.session).list_()


log = structlog.get_logger()


class AuditMaintenance:
    def __init__(self, database: Database, sealer: Sealer, heads: HeadSigner) -> None:
        self._database = database
        self._sealer = sealer
        self._heads = heads

    async def seal(self) -> None:
        """Seal committed events and report how long the oldest of them waited."""
        chains = await list_organizations_with(self._database, PendingWork.UNSEALED_EVENTS)
        waiting = [organization_of(chain) for chain in chains]
        waited = [await self._waited_seconds(organization_id) for organization_id in waiting]
        AUDIT_UNSEALED_OLDEST_SECONDS.set(max(waited, default=0))
        for organization_id in waiting:
            await self._sealer.seal(organization_id)

    async def sign(self) -> None:
        """Sign the end of every chain that has grown. A broken chain does not delay the others."""
        broken = [chain for chain in await self._chains() if not await self._sign(chain)]
        AUDIT_CHAINS_BROKEN.set(len(broken))

    async def _sign(self, organization_id: UUID | None) -> bool:
        try:
            await self._heads.sign_chain(organization_id)
        except ChainBroken as error:
            log.error("audit.chain_broken", chain=str(chain_of(organization_id)), error=error.message)
            return False
        return True

    async def _waited_seconds(self, organization_id: UUID | None) -> float:
        async with self._database.service_work(Service(organization_id)) as work:
            return await SealRepository(work.session).oldest_unsealed_seconds(chain_of(organization_id))

    async def _chains(self) -> Sequence[UUID | None]:
        return [None, *await list_organizations(self._database)]
