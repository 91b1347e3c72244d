"""Every query of the objects in Paperless that stand for an organization."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.archival.tables import PaperlessCache


@dataclass(frozen=True)
class PaperlessIds:
    paperless_correspondent_id: int
    paperless_org_tag_id: int


class PaperlessCacheRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def find(self, organization_id: UUID) -> PaperlessIds | None:
        found = await self._session.scalar(
            select(PaperlessCache).where(PaperlessCache.organization_id == organization_id)
        )
        return PaperlessIds(found.paperless_correspondent_id, found.paperless_org_tag_id) if found else None

    async def put(self, organization_id: UUID, ids: PaperlessIds) -> bool:
        """Whether they were others, or none."""
        if await self.find(organization_id) == ids:
            return False
        added = insert(PaperlessCache).values(organization_id=organization_id, **vars(ids))
        await self._session.execute(
            added.on_conflict_do_update(
                index_elements=["organization_id"], set_={**vars(ids), "updated_at": func.now()}
            )
        )
        return True
