"""Reread many documents, for operators: with a newer reader, or with other settings (specs/artifacts.md §9)."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Select, exists, select, text

from muniment.artifacts.keys import ALGORITHM_VERSION
from muniment.artifacts.tables import FullText
from muniment.documents.tables import Document, Status
from muniment.knowledge_bases.repository import KnowledgeBaseNotFound
from muniment.lifecycle.moves.retry import VersionUnknown, reread
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, list_organizations
from muniment.storage.tasks.port import RunWish, Tasks

BATCH = 50
LOOK_SECONDS = 1.0


@dataclass(frozen=True)
class Progress:
    total: int
    completed: int
    failed: int

    @property
    def is_over(self) -> bool:
        return self.completed + self.failed >= self.total


class Reprocessing:
    """Queues a reread of every completed document, one transaction for a few of them, and then watches the runs."""

    def __init__(self, database: Database, tasks: Tasks, wish: RunWish) -> None:
        self._database = database
        self._tasks = tasks
        self._wish = wish
        self._runs: dict[UUID, list[UUID]] = {}

    async def queue(self, kb_ids: Sequence[UUID] = ()) -> int:
        """Of these knowledge bases, or of all; how many were queued."""
        unknown = set(kb_ids)
        for organization_id in await list_organizations(self._database):
            unknown -= await self._known(organization_id, kb_ids)
        if unknown:
            raise KnowledgeBaseNotFound(f"Knowledge base not found: {', '.join(map(str, sorted(unknown)))}")
        for organization_id in await list_organizations(self._database):
            self._runs[organization_id] = [run async for run in self._queue_one_by_one(organization_id, kb_ids)]
        total = sum(map(len, self._runs.values()))
        if self._is_older and not total:
            raise VersionUnknown
        return total

    @property
    def _is_older(self) -> bool:
        """Not installed: only documents whose results of that version are still stored can show them again."""
        return self._wish.algorithm_version not in (None, ALGORITHM_VERSION)

    async def _known(self, organization_id: UUID, kb_ids: Sequence[UUID]) -> set[UUID]:
        async with self._database.service_work(Service(organization_id)) as work:
            statement = text("SELECT id FROM knowledge_bases WHERE id = ANY(:ids)")
            return set(await work.session.scalars(statement, {"ids": list(kb_ids)}))

    async def _queue_one_by_one(self, organization_id: UUID, kb_ids: Sequence[UUID]) -> AsyncIterator[UUID]:
        wanted, after = self._wanted(kb_ids), UUID(int=0)
        while True:
            async with self._database.service_work(Service(organization_id)) as work:
                following = wanted.where(Document.id > after).order_by(Document.id).limit(BATCH)
                batch = (await work.session.scalars(following.with_for_update(key_share=True))).all()
                runs = [await reread(work, self._tasks, document, self._wish) for document in batch]
            for run in runs:
                yield run
            if not batch:
                return
            after = batch[-1].id

    def _wanted(self, kb_ids: Sequence[UUID]) -> Select[Document]:
        wanted = select(Document).where(Document.status == Status.COMPLETED)
        if kb_ids:
            wanted = wanted.where(Document.kb_id.in_(kb_ids))
        if self._is_older:
            stored = exists().where(
                FullText.content_hmac == Document.content_hmac,
                FullText.algorithm_version == self._wish.algorithm_version,
            )
            wanted = wanted.where(stored)
        return wanted

    async def watch(self) -> AsyncIterator[Progress]:
        """Until all of them have ended."""
        while True:
            progress = await self._look()
            yield progress
            if progress.is_over:
                return
            await asyncio.sleep(LOOK_SECONDS)

    async def _look(self) -> Progress:
        ended: dict[str, int] = {}
        for organization_id, runs in self._runs.items():
            async with self._database.service_work(Service(organization_id)) as work:
                statement = text("""SELECT status, count(*) FROM document_processing_runs
                                     WHERE run_id = ANY(:runs) AND ended_at IS NOT NULL GROUP BY status""")
                for status, count in await work.session.execute(statement, {"runs": runs}):
                    ended[status] = ended.get(status, 0) + count
        total = sum(map(len, self._runs.values()))
        return Progress(total, ended.get("completed", 0), ended.get("failed", 0))
