"""The audit log of one organization: events are recorded, sealed and signed, and a superuser tampers with them."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from muniment.audit.heads import HeadSigner
from muniment.audit.sealing import Sealer
from muniment.audit.verification import Verification
from muniment.storage.db.base import new_id
from tests.support.seed import Seed


@dataclass(frozen=True)
class Trail:
    seed: Seed
    sealer: Sealer
    heads: HeadSigner
    verification: Verification
    organization_id: UUID

    def write(self, number: int = 1, **columns: Any) -> list[UUID]:
        """Record this number of events with a value in every column."""
        ids = [new_id() for _ in range(number)]
        for event_id in ids:
            line = {
                "action": "test_done",
                "actor": "somebody",
                "organization_id": self.organization_id,
                "knowledge_base_id": new_id(),
                "document_id": new_id(),
                "address": "192.0.2.1",
                "payload": {"name": "Årsmøte.pdf", "pages": 3},
            }
            self.seed.insert("audit_events", id=event_id, **{**line, **columns})
        return ids

    async def seal(self) -> None:
        await self.sealer.seal(self.organization_id)

    async def sign(self) -> None:
        await self.heads.sign_chain(self.organization_id)

    async def write_sealed(self, number: int = 1, **columns: Any) -> list[UUID]:
        ids = self.write(number, **columns)
        await self.seal()
        await self.sign()
        return ids

    def tamper(self, statement: str, *values: Any) -> None:
        """Run a statement as the superuser, without triggers."""
        self.seed.execute("SET session_replication_role = replica")
        try:
            self.seed.execute(statement, *values)
        finally:
            self.seed.execute("SET session_replication_role = DEFAULT")

    def places(self) -> list[tuple[int, UUID]]:
        rows = self.seed.rows("SELECT seq, event_id FROM audit_seals WHERE chain = %s ORDER BY seq", self.chain)
        return [(seq, event_id) for seq, event_id in rows]

    async def problems(self) -> list[str]:
        """Return the problems found by verification."""
        return [problem.sentence for problem in (await self.verification.verify(self.organization_id)).problems]

    @property
    def chain(self) -> UUID:
        return self.organization_id
