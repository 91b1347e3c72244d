"""What a sweep should have finished by now: it is swept again, and what is left then is told."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.reconcile.drift import Drift, DriftKind, ReconcileScope, StoreName
from muniment.storage.db.work import Database

Sweep = Callable[[UUID], Awaitable[object]]
"""Of one organization."""


async def no_sweep(_: UUID) -> None:
    """Where looking is all that can be done."""


# A line that keeps its object for who has not decided yet is not due before its day.
_STATEMENTS = {
    StoreName.LEDGER: "SELECT id::text, knowledge_base_id FROM deletions WHERE done_at IS NULL AND created_at < :before"
    " AND (attempts > 0 OR next_attempt_at < :before)",
    StoreName.INTENTS: "SELECT document_id::text, knowledge_base_id FROM index_intents WHERE created_at < :before",
    StoreName.UPLOADS: "SELECT id::text, knowledge_base_id FROM uploads WHERE expires_at < :before",
    StoreName.RECEIPTS: "SELECT id::text, knowledge_base_id FROM receipts"
    " WHERE signed_at IS NULL AND created_at < :before",
    StoreName.ARTIFACTS: "SELECT id::text, NULL::uuid FROM artifacts_full_text"
    " WHERE unreferenced_at < :before AND organization_id = :organization_id AND NOT app_artifact_is_used(id)",
}


class OverdueRepository:
    def __init__(self, session: AsyncSession, organization_id: UUID) -> None:
        self._session = session
        self._organization_id = organization_id

    async def list_(self, store: StoreName, before: datetime) -> Sequence[tuple[str, UUID | None]]:
        """What has waited since before then, with its knowledge base where it has one."""
        values = {"before": before, "organization_id": self._organization_id}
        statement = text(_STATEMENTS[store])
        wanted = {name: value for name, value in values.items() if f":{name}" in _STATEMENTS[store]}
        return [(target, kb_id) for target, kb_id in await self._session.execute(statement, wanted)]


@dataclass(frozen=True)
class OverdueCheck:
    database: Database
    store: StoreName
    sweep: Sweep = no_sweep
    grace: timedelta = timedelta(0)
    """How much longer than anything else it may take."""

    async def scan(self, scope: ReconcileScope) -> AsyncIterator[Drift]:
        for target, kb_id in await self._list(scope):
            yield Drift(self.store, DriftKind.OVERDUE, target, kb_id)

    async def confirm(self, scope: ReconcileScope, seen: Sequence[Drift]) -> Sequence[Drift]:
        still = {target for target, _ in await self._list(scope)}
        return [drift for drift in seen if drift.target in still]

    async def _list(self, scope: ReconcileScope) -> Sequence[tuple[str, UUID | None]]:
        async with self.database.service_work(scope.service) as work:
            overdue = OverdueRepository(work.session, scope.organization_id)
            found = await overdue.list_(self.store, scope.unchanged_since - self.grace)
        return [each for each in found if scope.covers_organization or each[1] in scope.kb_ids]

    async def repair(self, scope: ReconcileScope, drift: Drift) -> bool:
        if not await self.confirm(scope, [drift]):
            return True  # the sweep for another one took it along
        await self.sweep(scope.organization_id)
        return not await self.confirm(scope, [drift])
