"""Find what a sweep should have finished by now, and run that sweep again."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Select, Text, cast, func, null, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.artifacts.tables import TextArtifact
from muniment.audit.receipts.tables import Receipt
from muniment.documents.tables import Document, Revision, Upload
from muniment.reconcile.drift import Drift, DriftKind, ReconcileScope, StoreName
from muniment.storage.db.work import Database
from muniment.storage.deletions.tables import LedgerEntry
from muniment.storage.vectors.tables import IndexIntent

Sweep = Callable[[UUID], Awaitable[object]]
"""A sweep over one organization."""


async def no_sweep(_: UUID) -> None:
    """Do nothing, where no sweep can repair anything."""


class OverdueRepository:
    def __init__(self, session: AsyncSession, organization_id: UUID) -> None:
        self._session = session
        self._organization_id = organization_id

    async def list_(self, store: StoreName, before: datetime) -> Sequence[tuple[str, UUID | None]]:
        """Return what has been due since before the given time, each with its knowledge base if it has one."""
        return [(target, kb_id) for target, kb_id in await self._session.execute(self._query(store, before))]

    def _query(self, store: StoreName, before: datetime) -> Select[str, Any]:
        if store is StoreName.LEDGER:
            # A reservation is not due before its own time.
            is_due = or_(LedgerEntry.attempts > 0, LedgerEntry.next_attempt_at < before)
            return select(cast(LedgerEntry.id, Text), LedgerEntry.kb_id).where(
                LedgerEntry.done_at.is_(None), LedgerEntry.created_at < before, is_due
            )
        if store is StoreName.INTENTS:
            return select(cast(IndexIntent.document_id, Text), IndexIntent.kb_id).where(IndexIntent.created_at < before)
        if store is StoreName.UPLOADS:
            return select(cast(Upload.id, Text), Upload.kb_id).where(Upload.expires_at < before)
        if store is StoreName.REPLACEMENTS:
            expired = select(cast(Revision.document_id, Text), Document.kb_id).where(Revision.expires_at < before)
            return expired.join(Document, Document.id == Revision.document_id)
        if store is StoreName.RECEIPTS:
            return select(cast(Receipt.id, Text), Receipt.kb_id).where(
                Receipt.signed_at.is_(None), Receipt.created_at < before
            )
        assert store is StoreName.ARTIFACTS
        return select(cast(TextArtifact.id, Text), null()).where(
            TextArtifact.unreferenced_at < before,
            TextArtifact.organization_id == self._organization_id,
            ~func.app_artifact_is_used(TextArtifact.id),
        )


@dataclass(frozen=True)
class OverdueCheck:
    database: Database
    store: StoreName
    sweep: Sweep = no_sweep
    grace: timedelta = timedelta(0)
    """Additional time before an item counts as overdue."""

    async def scan(self, scope: ReconcileScope) -> AsyncIterator[Drift]:
        for target, kb_id in await self._list(scope):
            yield Drift(self.store, DriftKind.OVERDUE, target, kb_id)

    async def confirm(self, scope: ReconcileScope, seen: Sequence[Drift]) -> Sequence[Drift]:
        still = {target for target, _ in await self._list(scope)}
        return [drift for drift in seen if drift.target in still]

    async def _list(self, scope: ReconcileScope) -> Sequence[tuple[str, UUID | None]]:
        async with self.database.service_work(scope.service) as work:
            overdue = OverdueRepository(work.session, scope.organization_id)
            items = await overdue.list_(self.store, scope.unchanged_since - self.grace)
        return [(target, kb_id) for target, kb_id in items if scope.covers_organization or kb_id in scope.kb_ids]

    async def repair(self, scope: ReconcileScope, drift: Drift) -> bool:
        if not await self.confirm(scope, [drift]):
            return True  # a sweep for another item has finished it
        await self.sweep(scope.organization_id)
        return not await self.confirm(scope, [drift])
