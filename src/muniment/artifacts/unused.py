"""Every query of the garbage collection (specs/artifacts.md §9). Whatever refers to an artifact keeps it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, case, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.artifacts.packs import key_of
from muniment.artifacts.tables import FullText


@dataclass(frozen=True)
class Unused:
    """An artifact without a reference, the object that holds its text, and since when we know."""

    text_id: UUID
    pack: str
    marked_at: datetime | None


class Marks(NamedTuple):
    """How many were found without a reference for the first time, and how many are referred to again."""

    made: int
    taken_back: int


class UnusedArtifactRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def list_ids(self, organization_id: UUID | None, *, after: UUID | None, limit: int) -> Sequence[UUID]:
        """The next ones of this organization, or of those that all share."""
        owned = select(FullText.id).where(FullText.organization_id.is_not_distinct_from(organization_id))
        behind = owned.where(FullText.id > after) if after else owned
        return (await self._session.scalars(behind.order_by(FullText.id).limit(limit))).all()

    async def list_ids_of(self, content_key: str) -> Sequence[UUID]:
        """Whatever was read from these bytes, in whichever way."""
        of_content = select(FullText.id).where(FullText.content_hmac == content_key)
        return (await self._session.scalars(of_content.order_by(FullText.id))).all()

    async def list_unused(self, ids: Sequence[UUID]) -> Sequence[Unused]:
        """Those of them that nothing refers to."""
        columns = (FullText.id, FullText.full_text_uri, FullText.unreferenced_at)
        found = await self._session.execute(
            select(*columns).where(FullText.id.in_(ids), ~_is_used()).order_by(FullText.id)
        )
        return [Unused(text_id, key_of(uri), marked_at) for text_id, uri, marked_at in found]

    async def correct_marks(self, ids: Sequence[UUID], at: datetime) -> Marks:
        """Mark what nothing refers to, take back the marks of what is referred to again; others keep their time."""
        # Takes no lock that a finder would wait for: the mark is no part of a key.
        changed = await self._session.scalars(
            update(FullText)
            .where(FullText.id.in_(ids), _is_used() == FullText.unreferenced_at.is_not(None))
            .values(unreferenced_at=case((FullText.unreferenced_at.is_(None), at)))
            .returning(FullText.unreferenced_at)
            .execution_options(synchronize_session=False)
        )
        marks = changed.all()
        return Marks(made=sum(mark is not None for mark in marks), taken_back=marks.count(None))

    async def take(self, text_id: UUID) -> str | None:
        """Remove it with all its parts if nothing refers to it: the key of its pack, which is to be erased after.

        Held first, and asked about in a second statement: whoever found it a moment ago (`ArtifactRepository.find`)
        or is referring to it has ended by then, and what they wrote is seen. Nobody can find it from here on: they
        wait for our end and find nothing. So no foreign key is ever hurt.
        """
        await self._session.execute(select(FullText.id).where(FullText.id == text_id).with_for_update())
        uri = await self._session.scalar(
            delete(FullText)
            .where(FullText.id == text_id, ~_is_used())
            .returning(FullText.full_text_uri)
            .execution_options(synchronize_session=False)
        )
        return key_of(uri) if uri else None


def _is_used() -> ColumnElement[bool]:
    """With the eyes of all organizations, where they share."""
    used: ColumnElement[bool] = func.app_artifact_is_used(FullText.id)
    return used
