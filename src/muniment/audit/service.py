"""What people may ask of the trail beyond reading it: to check it, to take it along, and by which key it is signed."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime

from muniment.audit.export import Export
from muniment.audit.heads import Heads
from muniment.audit.keys import KeyRepository, PublicKey
from muniment.audit.repository import Wanted
from muniment.audit.sealing import Sealer
from muniment.audit.signing import Signer
from muniment.audit.verification import Verdict, Verification
from muniment.errors import Forbidden
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Database


class Auditing:
    def __init__(self, database: Database, sealer: Sealer, heads: Heads, verification: Verification) -> None:
        self._database = database
        self._sealer = sealer
        self._heads = heads
        self._verification = verification

    @property
    def signer(self) -> Signer:
        return self._sealer.signer

    async def verify(self, principal: Principal, *, is_installation: bool) -> Verdict:
        """An admin has the organization's chain checked, an operator the installation's."""
        if not (principal.is_operator if is_installation else principal.is_admin):
            raise Forbidden
        return await self._verification.verify(None if is_installation else principal.organization_id)

    def export_json_lines(self, principal: Principal, wanted: Wanted, at: datetime) -> AsyncIterator[bytes]:
        return Export(self._database, self._sealer, self._heads, principal, wanted).json_lines(at)

    def export_csv(self, principal: Principal, wanted: Wanted) -> AsyncIterator[bytes]:
        return Export(self._database, self._sealer, self._heads, principal, wanted).csv()

    async def keys(self, principal: Principal) -> Sequence[PublicKey]:
        """Everybody who is signed in may know them."""
        async with self._database.work(principal) as work:
            return await KeyRepository(work.session).list_()
