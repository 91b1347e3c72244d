"""Which organizations there are, and which of them a sweep has to visit."""

from collections.abc import Sequence
from enum import StrEnum
from uuid import UUID

from sqlalchemy import func, select, text

from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database


class Waiting(StrEnum):
    """What a sweep may find in an organization; each is a function of the database that sees all of them."""

    DELETIONS = "organizations_with_deletions"
    HAND_OVERS = "organizations_with_hand_overs"
    INTENTS = "organizations_with_intents"
    RECEIPTS = "organizations_with_receipts"
    EVENTS = "chains_with_events"


async def list_organizations(database: Database) -> Sequence[UUID]:
    """For sweeps, which then work in one at a time."""
    async with database.service_work(Service()) as work:
        return (await work.session.scalars(text("SELECT id FROM organizations ORDER BY id"))).all()


async def list_waiting(database: Database, what: Waiting) -> Sequence[UUID]:
    """The same, but only those where there is something to do: what is swept every few seconds asks here."""
    async with database.service_work(Service()) as work:
        return sorted(await work.session.scalars(select(getattr(func, what)())))
