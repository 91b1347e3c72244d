"""Vectors that an interrupted run of the previous version has left.

The embedding of the artifact begins with them. They are deleted with the artifact, when they are taken over, and after
a day if no run continued. Vectors are now stored where they stay (`vectors.py`).
"""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sqlalchemy import delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.search.tables import PartialVectors
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, list_organizations
from muniment.storage.vectors.port import IndexingVariant

LIFETIME = timedelta(days=1)
_BYTES_PER_NUMBER = 2


@dataclass(frozen=True)
class PartialVectorRepository:
    """Vectors of the first chunks of one artifact, in half precision."""

    session: AsyncSession
    artifact_text_id: UUID
    variant: IndexingVariant

    async def list_(self) -> list[bytes]:
        """Return the vectors from the first chunk on, without gaps."""
        columns = (PartialVectors.first_chunk, PartialVectors.vectors)
        stored = select(*columns).filter_by(**self._key).order_by(PartialVectors.first_chunk)
        size = _BYTES_PER_NUMBER * self.variant.dimensions
        vectors: list[bytes] = []
        for first_chunk, packed in await self.session.execute(stored):
            if first_chunk == len(vectors) and len(packed) % size == 0:
                vectors += [packed[start : start + size] for start in range(0, len(packed), size)]
        return vectors

    async def delete(self) -> None:
        await self.session.execute(delete(PartialVectors).filter_by(**self._key))

    @property
    def _key(self) -> dict[str, UUID | str]:
        return {"artifact_text_id": self.artifact_text_id, "fingerprint": self.variant.fingerprint}


async def delete_abandoned_vectors(database: Database) -> None:
    """Delete what no run came back for: it was cancelled, or the model has changed."""
    abandoned = delete(PartialVectors).where(PartialVectors.created_at < func.now() - LIFETIME)
    for organization_id in await list_organizations(database):
        async with database.service_work(Service(organization_id)) as work:
            await work.session.execute(abandoned)
