"""Copy the passages of a document to an external index, without computing any embedding."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import and_, func, select

from muniment.documents.tables import Document
from muniment.search.tables import ArtifactChunk, ArtifactIndex, ArtifactVector, IndexingVariantRow
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.storage.vectors.port import ExternalIndex, IndexedDocument, IndexingVariant, Point

BATCH_POINTS = 500


@dataclass(frozen=True)
class IndexCopier:
    """Copies stored vectors to an external index, also to fill an empty one."""

    database: Database
    index: ExternalIndex

    async def copy(self, document: IndexedDocument, artifact_id: UUID, epoch: int) -> None:
        """Copy the passages of every model under this epoch. They are found once the document has this index epoch."""
        for model in await self._list_models(document, artifact_id):
            after = -1
            while points := await self._load_points(document, artifact_id, model, after):
                await self.index.upsert(document, model, epoch, points)
                after = points[-1].chunk_index

    async def remove_outdated(self, document: IndexedDocument) -> None:
        """Delete the points of earlier runs, after the document has switched to the new index epoch."""
        index_epoch = select(Document.index_epoch).where(Document.id == document.document_id)
        async with self.database.service_work(Service(document.organization_id), durable=False) as work:
            epoch = await work.session.scalar(index_epoch)
        if epoch is not None:
            await self.index.delete_document(document, before_epoch=epoch)

    async def _list_models(self, document: IndexedDocument, artifact_id: UUID) -> Sequence[IndexingVariant]:
        columns = (IndexingVariantRow.fingerprint, IndexingVariantRow.model, IndexingVariantRow.dimensions)
        variants = select(*columns).join(ArtifactIndex, ArtifactIndex.fingerprint == IndexingVariantRow.fingerprint)
        async with self.database.service_work(Service(document.organization_id), durable=False) as work:
            complete = (ArtifactIndex.artifact_text_id == artifact_id, ArtifactIndex.embedded_at.is_not(None))
            found = await work.session.execute(variants.where(*complete))
            return [IndexingVariant(**row) for row in found.mappings()]

    async def _load_points(
        self, document: IndexedDocument, artifact_id: UUID, model: IndexingVariant, after: int
    ) -> Sequence[Point]:
        # From the old form, until the vectors are moved.
        vector = func.coalesce(ArtifactVector.embedding, ArtifactChunk.embedding, type_=HALFVEC)
        of_chunk = and_(
            ArtifactVector.artifact_text_id == ArtifactChunk.artifact_text_id,
            ArtifactVector.fingerprint == ArtifactChunk.fingerprint,
            ArtifactVector.chunk_index == ArtifactChunk.chunk_index,
        )
        chunks = select(ArtifactChunk.chunk_index, ArtifactChunk.page_number, vector).outerjoin(
            ArtifactVector, of_chunk
        )
        following = chunks.where(
            ArtifactChunk.artifact_text_id == artifact_id,
            ArtifactChunk.fingerprint == model.fingerprint,
            ArtifactChunk.chunk_index > after,
        )
        async with self.database.service_work(Service(document.organization_id), durable=False) as work:
            found = await work.session.execute(following.order_by(ArtifactChunk.chunk_index).limit(BATCH_POINTS))
            return [Point(index, page, list(embedding)) for index, page, embedding in found]
