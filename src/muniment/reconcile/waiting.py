"""Documents that are pending or in processing, and nobody is going to read them."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from sqlalchemy import update

from muniment.audit.events import DocumentRetried
from muniment.audit.log import AuditLog
from muniment.documents.repository import DocumentRepository
from muniment.documents.tables import Document
from muniment.reconcile.drift import Drift, Kind, Scope, Store
from muniment.reconcile.run_repository import Waiting, WaitingDocumentRepository
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, Work
from muniment.storage.tasks.port import FIRST, Tasks


@dataclass(frozen=True)
class WaitingDocuments:
    database: Database
    tasks: Tasks
    store: Store = Store.DOCUMENTS

    async def look(self, scope: Scope) -> AsyncIterator[Drift]:
        for waiting in await self._list(scope):
            yield Drift(self.store, Kind.STUCK, str(waiting.document_id), waiting.kb_id, waiting.document_id)

    async def confirm(self, scope: Scope, seen: Sequence[Drift]) -> Sequence[Drift]:
        still = {waiting.document_id for waiting in await self._list(scope)}
        return [drift for drift in seen if drift.document_id in still]

    async def _list(self, scope: Scope) -> Sequence[Waiting]:
        async with self.database.service_work(scope.service) as work:
            return await WaitingDocumentRepository(work.session).list_(scope.kb_ids, scope.settled_before)

    async def repair(self, scope: Scope, drift: Drift) -> bool:
        assert drift.document_id is not None
        async with self.database.service_work(scope.service) as work:
            documents = WaitingDocumentRepository(work.session)
            waiting = await documents.hold(drift.document_id, scope.settled_before)
            if waiting is None:
                return False
            await self._queue(work, waiting)
        return True

    async def _queue(self, work: Work[Service], waiting: Waiting) -> None:
        epoch = waiting.epoch
        if waiting.had_run:
            epoch += 1  # one run an epoch; whoever ended the last one writes nothing any more
            this = update(Document).where(Document.id == waiting.document_id).values(epoch=epoch)
            await work.session.execute(this.execution_options(synchronize_session=False))
        document = await DocumentRepository(work.session).get(waiting.kb_id, waiting.document_id)
        event = DocumentRetried(document.id, document.kb_id, document.name, purpose=FIRST.purpose, force=False)
        await AuditLog(work).record(event)
        await self.tasks.enqueue_run(work, waiting.document_id, epoch, FIRST)
