"""Reread many documents, for operators: with a newer reader or other settings (docs/design.md#retry-and-reread)."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Select, exists, select

from muniment.artifacts.keys import READING_VERSION
from muniment.artifacts.tables import TextArtifact
from muniment.documents.runs import DocumentRunRepository, RunStatus
from muniment.documents.tables import Document, Status
from muniment.knowledge_bases.repository import KnowledgeBaseNotFound, KnowledgeBaseRepository
from muniment.lifecycle.moves.retry import AlgorithmVersionUnavailable, reread
from muniment.storage.db.base import FIRST_ID
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, list_organizations
from muniment.storage.tasks.port import RunRequest, TaskQueue

BATCH = 50
POLL_SECONDS = 1.0


@dataclass(frozen=True)
class RereadProgress:
    """How many of the queued rereads have ended."""

    total: int
    completed: int
    failed: int

    @property
    def is_over(self) -> bool:
        return self.completed + self.failed >= self.total


class BulkReread:
    """Queues rereads of completed documents, one transaction per batch, and then watches their runs."""

    def __init__(self, database: Database, tasks: TaskQueue, request: RunRequest) -> None:
        self._database = database
        self._tasks = tasks
        self._request = request
        self._runs: dict[UUID, list[UUID]] = {}

    async def enqueue(self, kb_ids: Sequence[UUID] = ()) -> int:
        """Queue the documents of these knowledge bases, or of all. Return how many were queued."""
        unknown = set(kb_ids)
        for organization_id in await list_organizations(self._database):
            unknown -= await self._list_existing_kbs(organization_id, kb_ids)
        if unknown:
            raise KnowledgeBaseNotFound(f"Knowledge base not found: {', '.join(map(str, sorted(unknown)))}")
        for organization_id in await list_organizations(self._database):
            self._runs[organization_id] = [run async for run in self._enqueue_all(organization_id, kb_ids)]
        total = sum(map(len, self._runs.values()))
        if self._needs_stored_results and not total:
            raise AlgorithmVersionUnavailable
        return total

    @property
    def _needs_stored_results(self) -> bool:
        """Whether the version is not installed, so that only documents with stored results of it can be reread."""
        return self._request.algorithm_version not in (None, READING_VERSION)

    async def _list_existing_kbs(self, organization_id: UUID, kb_ids: Sequence[UUID]) -> set[UUID]:
        async with self._database.service_work(Service(organization_id)) as work:
            return set(await KnowledgeBaseRepository(work.session).list_existing(kb_ids))

    async def _enqueue_all(self, organization_id: UUID, kb_ids: Sequence[UUID]) -> AsyncIterator[UUID]:
        documents, after = self._select_documents(kb_ids), FIRST_ID
        while True:
            async with self._database.service_work(Service(organization_id)) as work:
                following = documents.where(Document.id > after).order_by(Document.id).limit(BATCH)
                batch = (await work.session.scalars(following.with_for_update(key_share=True))).all()
                runs = [await reread(work, self._tasks, document, self._request) for document in batch]
            for run in runs:
                yield run
            if not batch:
                return
            after = batch[-1].id

    def _select_documents(self, kb_ids: Sequence[UUID]) -> Select[Document]:
        documents = select(Document).where(Document.status == Status.COMPLETED)
        if kb_ids:
            documents = documents.where(Document.kb_id.in_(kb_ids))
        if self._needs_stored_results:
            stored = exists().where(
                TextArtifact.content_hmac == Document.content_hmac,
                TextArtifact.algorithm_version == self._request.algorithm_version,
            )
            documents = documents.where(stored)
        return documents

    async def watch(self) -> AsyncIterator[RereadProgress]:
        """Yield the progress until all runs have ended."""
        while True:
            progress = await self._count_ended()
            yield progress
            if progress.is_over:
                return
            await asyncio.sleep(POLL_SECONDS)

    async def _count_ended(self) -> RereadProgress:
        ended: dict[str, int] = {}
        for organization_id, runs in self._runs.items():
            async with self._database.service_work(Service(organization_id)) as work:
                for status, count in (await DocumentRunRepository(work.session).count_ended(runs)).items():
                    ended[status] = ended.get(status, 0) + count
        total = sum(map(len, self._runs.values()))
        return RereadProgress(total, ended.get(RunStatus.COMPLETED, 0), ended.get(RunStatus.FAILED, 0))
