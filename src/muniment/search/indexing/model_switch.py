"""Status of the indexing variants, and the switch to the configured one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import func, select

from muniment.audit.events import Event
from muniment.audit.log import AuditLog
from muniment.documents.tables import Document, Status
from muniment.errors import Refused
from muniment.search.embedding.port import Embedder
from muniment.search.indexing.repository import IndexRepository
from muniment.search.tables import ArtifactIndex, IndexingVariantRow
from muniment.search.variants import variant_for
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, list_organizations

_COUNT_COMPLETED = select(func.count()).select_from(Document).where(Document.status == Status.COMPLETED)
_COUNT_INDEXED = (
    select(ArtifactIndex.fingerprint, func.count())
    .join(Document, Document.artifact_text_id == ArtifactIndex.artifact_text_id)
    .where(Document.status == Status.COMPLETED, ArtifactIndex.embedded_at.is_not(None))
    .group_by(ArtifactIndex.fingerprint)
)


@dataclass(frozen=True)
class IndexSwitched(Event):
    """The active model of the installation was switched. The event is in the installation's chain."""

    action = "index_switched"

    before: str | None
    """Fingerprint of the previous variant, or `None` if there was none."""
    after: str
    model: str
    lacking: int
    """Number of completed documents that search does not find until they are reprocessed."""


class DocumentsNotIndexed(Refused):
    """Some completed documents are not indexed with the new model yet"""


@dataclass(frozen=True)
class VariantStatus:
    fingerprint: str
    model: str
    dimensions: int
    is_active: bool
    is_configured: bool
    documents: int
    """Completed documents that are indexed with this variant, with the vectors of all their passages."""


@dataclass(frozen=True)
class IndexStatus:
    completed_documents: int
    variants: Sequence[VariantStatus]
    """All variants, the configured one first, even if nothing is indexed with it yet."""

    @property
    def configured(self) -> VariantStatus:
        return self.variants[0]

    @property
    def unindexed_documents(self) -> int:
        """Completed documents without passages of the configured variant."""
        return self.completed_documents - self.configured.documents


class ModelSwitch:
    def __init__(self, database: Database, configured: Embedder) -> None:
        self._database = database
        self._configured = variant_for(configured)

    async def status(self) -> IndexStatus:
        """Count indexed documents, one organization after the other, without a consistent snapshot."""
        completed, indexed = 0, dict[str, int]()
        for organization_id in await list_organizations(self._database):
            async with self._database.service_work(Service(organization_id)) as work:
                completed += await work.session.scalar(_COUNT_COMPLETED) or 0
                for fingerprint, count in await work.session.execute(_COUNT_INDEXED):
                    indexed[fingerprint] = indexed.get(fingerprint, 0) + count
        variants = [self._variant_status(row, indexed) for row in await self._list_variants()]
        return IndexStatus(completed, sorted(variants, key=lambda variant: not variant.is_configured))

    async def _list_variants(self) -> list[IndexingVariantRow]:
        async with self._database.service_work(Service()) as work:
            rows = select(IndexingVariantRow).order_by(IndexingVariantRow.created_at)
            known = list(await work.session.scalars(rows))
        if all(row.fingerprint != self._configured.fingerprint for row in known):
            known.append(IndexingVariantRow(**vars(self._configured), is_active=False))  # as it will be stored
        return known

    def _variant_status(self, row: IndexingVariantRow, indexed: Mapping[str, int]) -> VariantStatus:
        return VariantStatus(
            fingerprint=row.fingerprint,
            model=row.model,
            dimensions=row.dimensions,
            is_active=row.is_active,
            is_configured=row.fingerprint == self._configured.fingerprint,
            documents=indexed.get(row.fingerprint, 0),
        )

    async def switch(self, *, force: bool = False) -> IndexStatus:
        """Activate the configured variant, unless it is active, and return the status before.

        Raises `DocumentsNotIndexed` if completed documents would no longer be found, unless `force` is set.
        """
        status = await self.status()
        if status.configured.is_active:
            return status
        if status.unindexed_documents and not force:
            raise DocumentsNotIndexed(
                f"{status.unindexed_documents} of {status.completed_documents} completed documents are not indexed "
                f"with {self._configured.model} and would not be found. Run `muniment reprocess` first"
            )
        async with self._database.service_work(Service()) as work:
            indexes = IndexRepository(work.session)
            before = await indexes.find_active_variant()
            await indexes.register_variant(self._configured)
            await indexes.activate(self._configured.fingerprint)
            named, model = self._configured.fingerprint, self._configured.model
            await AuditLog(work).record(
                IndexSwitched(before.fingerprint if before else None, named, model, status.unindexed_documents)
            )
        return status
