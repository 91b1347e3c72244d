"""Every query of documents on their way to the archive, each aimed at what belongs to the people of a `World`."""

from collections.abc import Awaitable, Callable
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from muniment.documents.handover_status import ArchiveStatus
from muniment.handover.internal.contract import Outcome
from muniment.handover.internal.service import PaperlessCacheRepository, PaperlessIds
from muniment.handover.job_key import JobKey
from muniment.handover.repository import ArchiveRepository, DueRepository, Job
from muniment.handover.tables import ArchiveAudit
from muniment.storage.db.base import new_id
from tests.security.world import SHA256, World

Query = Callable[[AsyncSession, World], Awaitable[Any]]

PENDING = [ArchiveStatus.PENDING]
PROVEN = ArchiveAudit(paperless_doc_id=1, paperless_doc_url="https://p/documents/1/")


def _key(world: World) -> JobKey:
    return JobKey(world.organization_id, "other", SHA256)


def _failed_key(world: World) -> JobKey:
    return JobKey(world.organization_id, "invoice", SHA256)


ARCHIVE_QUERIES: dict[str, Query] = {
    "ArchiveRepository.organization_name": lambda s, w: ArchiveRepository(s).organization_name(w.organization_id),
    "ArchiveRepository.begin": lambda s, w: ArchiveRepository(s).begin(Job(_key(w), new_id())),
    "ArchiveRepository.mark_failed": lambda s, w: ArchiveRepository(s).mark_failed(
        w.document_id, _key(w), "test", is_repeated=True
    ),
    "ArchiveRepository.record": lambda s, w: ArchiveRepository(s).record(
        w.document_id, _key(w), Outcome(ArchiveStatus.FAILED)
    ),
    "DueRepository.take_due": lambda s, w: DueRepository(s).take_due(limit=10),
    "DueRepository.find_archived": lambda s, w: DueRepository(s).find_archived(SHA256),
    "DueRepository.close": lambda s, w: DueRepository(s).close(w.archive_row_id, PROVEN),
    "DueRepository.give_up": lambda s, w: DueRepository(s).give_up(w.archive_row_id, "test"),
    "ArchiveRepository.settle_documents": lambda s, w: ArchiveRepository(s).settle_documents(_key(w)),
    "DueRepository.list_wishes": lambda s, w: DueRepository(s).list_wishes(limit=10),
    "DueRepository.find_original": lambda s, w: DueRepository(s).find_original(SHA256),
    "DueRepository.find_document": lambda s, w: DueRepository(s).find_document(w.document_id, SHA256),
    "ArchiveRepository.find_of_key": lambda s, w: ArchiveRepository(s).find_of_key(_key(w)),
    "ArchiveRepository.await_again": lambda s, w: ArchiveRepository(s).await_again(_failed_key(w)),
    "ArchiveRepository.forget": lambda s, w: ArchiveRepository(s).forget(w.document_id, _key(w)),
    "ArchiveRepository.is_waited_for": lambda s, w: ArchiveRepository(s).is_waited_for(
        _key(w), PENDING, besides=new_id()
    ),
    "DueRepository.hasten_failed": lambda s, w: DueRepository(s).hasten_failed(),
    "PaperlessCacheRepository.find": lambda s, w: PaperlessCacheRepository(s).find(w.organization_id),
    "PaperlessCacheRepository.put": lambda s, w: PaperlessCacheRepository(s).put(w.organization_id, PaperlessIds(3, 4)),
}
