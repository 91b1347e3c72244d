from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import text

from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database


async def list_organizations(database: Database) -> Sequence[UUID]:
    """For sweeps, which then work in one at a time."""
    async with database.service_work(Service()) as work:
        return (await work.session.scalars(text("SELECT id FROM organizations ORDER BY id"))).all()
